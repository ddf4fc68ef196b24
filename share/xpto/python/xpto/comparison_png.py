"""Error map and histogram of a comparison as PNG, by matplotlib."""
from __future__ import annotations

import io
from typing import Any


def draw(p: dict[str, Any]) -> bytes:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("the PNG needs matplotlib, which is not installed; the notebook's own drawing does not") from None
    import numpy as np
    figure = Figure(figsize=(9, 3), dpi=100, layout="constrained")
    left, right = figure.subplots(1, 2)
    m = p["map"]
    z = np.array([np.inf if v is None else v for v in m["z"]], dtype=float).reshape(m["rows"], m["columns"])
    extent = (0, m["element_columns"], m["element_rows"], 0)
    left.imshow(np.ma.masked_greater(z, 6), cmap="cividis", vmin=0, vmax=6, aspect="auto", extent=extent, interpolation="nearest")
    overlay = np.zeros((*z.shape, 4))
    overlay[(z > 6) & np.isfinite(z)] = (0.88, 0.6, 0.0, 1)
    overlay[~np.isfinite(z)] = (0.70, 0.15, 0.12, 1)
    left.imshow(overlay, aspect="auto", extent=extent, interpolation="nearest")
    for row in m["task_rows"][1:]:
        left.axhline(row, color="white", linewidth=0.8)
    left.set_title("largest |error| / sigma a cell; amber above 6, red above the limit", fontsize=8)
    bars = p["histogram"]
    right.stairs([b["count"] for b in bars], [max(b["from"], 1e-3) for b in bars] + [bars[-1]["to"]] if bars else [0, 1], fill=True)
    right.set_xscale("log")
    right.axvline(6, color="#8A5A00")
    right.set_title(f"{p['verdict']} {p['output']}: {p['above_sigma']:,} above 6 sigma, {p['above_limit']:,} above the limit", fontsize=8)
    out = io.BytesIO()
    FigureCanvasAgg(figure).print_png(out)
    return out.getvalue()
