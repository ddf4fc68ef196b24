"""Where the time of a kernel goes: the predicted timeline of a run, with a warning when its inputs say nothing."""
from __future__ import annotations

import re
from typing import Any

from xpto.results import Report

def depends_on_data(ir: str) -> str:
    """The first loop or branch of a kernel's IR whose trip count or test was read from memory; empty when there is none."""
    tainted: set[str] = set()
    for _ in range(2):  # twice: a value carried round a loop
        for line in ir.splitlines():
            text = line.strip()
            words = set(re.findall(r"%?[A-Za-z_][\w.]*", text))
            read = "getval" in text or re.search(r"\bread\b", text) is not None
            if text.startswith(("for ", "if ", "while ")):
                head = words - {text.split()[1]} if text.startswith("for ") else words
                if read or head & tainted:
                    return text.rstrip(" {")
            elif " = " in text:
                left, right = text.split(" = ", 1)
                if read or set(re.findall(r"%?[A-Za-z_][\w.]*", right)) & tainted:
                    tainted.add(left.strip())
    return ""


def all_zero(arrays: dict[str, Any], written: set[str]) -> bool:
    import numpy as np
    given = [v for name, v in arrays.items() if name not in written and hasattr(v, "shape")]
    return bool(given) and all(not np.any(np.asarray(v)) for v in given)


def warnings(kernel: Any, run: Any) -> list[str]:
    """Sentences about a timeline that would mislead when read alone."""
    compiled = run.compiled
    written = {p["name"] for p in compiled.native.params() if p.get("written")}
    place = depends_on_data(compiled.native.ir())
    if place and all_zero(run.arguments(), written):
        return [f"every input is zero and the kernel's work depends on data ({place}): busy cycles near 0 "
                "are the inputs' doing, not speed; profile with real data"]
    return []


def profile(kernel: Any, *args: Any, block_dim: int = 1, **options: Any) -> Report:
    """Runs a kernel and returns its predicted timeline; without arguments the compiler's prediction, for inputs of zeros."""
    from xpto.kernel import OperatorKernel, run
    if not isinstance(kernel, OperatorKernel):
        raise TypeError(f"expected an operator kernel (a function decorated with @pl.jit), got {type(kernel).__name__}")
    if not args and not options:
        made = kernel.compile(tiling_key=kernel.variants()[0])
        if not made.ok:
            raise made.error()
        return made.view("timeline")
    return of_run(run(kernel, *args, block_dim=block_dim, **options))


def of_run(run: Any) -> Report:
    view = run.timeline()
    said = warnings(run.kernel, run)
    if not said:
        return view
    from html import escape
    from textwrap import fill
    data = view.to_json()
    data["warnings"] = said
    head = "".join(fill("WARNED  " + s, 100, subsequent_indent="  ") + "\n" for s in said)
    html = "".join(f"<p><b><font color=\"#8A5A00\">&#9650; WARNED</font></b> {escape(s)}</p>" for s in said)
    return Report(head + view.text(), html + view._repr_mimebundle_()["text/html"], data)
