"""Plain text of report values, for an engine without `render`."""
from __future__ import annotations

from textwrap import fill
from typing import Any


def _lines(*rows: str) -> str:
    return "".join(fill(r, 100, subsequent_indent="           ") + "\n" for r in rows if r)


def precision(p: dict[str, Any]) -> str:
    counts = {"BITWISE": f"all {p['elements']:,} elements equal the reference bit for bit",
              "MATCH": f"worst {p['worst_sigma']:.1f} sigma, 0 of {p['elements']:,} above 6",
              "ROUNDING": f"{p['above_sigma']:,} of {p['elements']:,} above 6 sigma, all within the limit",
              "DIFFERENT": f"{p['above_limit']:,} of {p['elements']:,} above the limit" +
              (f"; first wrong stage: {p['first_wrong_stage']}, task {p['first_wrong_task']}" if p["first_wrong_stage"] else "")}[p["verdict"]]
    worst = ""
    if p["worst"]:
        e = p["worst"][0]
        worst = f"worst      {p['output']}{e['index']}: error {e['error']:.2g}, 6 sigma {6 * e['sigma']:.2g}, limit {e['limit']:.2g}, value {e['got']:.4g}"
    return _lines(f"{p['verdict']}  {p['output']} ({p['shape']} {p['dtype']}): {counts}",
                  f"computed on {p['computed_by']}, reference {p['reference']}" + (f"; {p['tolerance']}" if p["tolerance"] else ""),
                  f"threshold  {p['derivation']}: sigma {p['sigma_low']:.2g} to {p['sigma_high']:.2g}, limit {p['limit_low']:.2g} to {p['limit_high']:.2g}",
                  f"where      {p['where']}; {p['scope']}" if p["where"] else "", f"kind       {p['kind']}" if p["kind"] else "",
                  f"see        {p['see']}" if p["see"] else "", worst,
                  f"spread     half of all below {p['median_sigma']:.2f} sigma, 99 % below {p['p99_sigma']:.1f}")


def sweep(s: dict[str, Any]) -> str:
    names = list(dict.fromkeys(n for p in s["points"] for n, _ in p["setting"]))
    best = s["points"][s["best"]] if s["best"] >= 0 else None
    rows = [f"{s['status']}  {s['kernel']}: " + (f"best preload {best['preload']}" + "".join(f", {n} {v}" for n, v in best["setting"]) + f": {best['us']:.2f} us"
                                                   if best else "no setting ran and was right") +
            f"; {s['run']} of {s['settings']} settings run" + ("; interrupted" if s["interrupted"] else ""),
            f"{s['computed_by']}, {s['tasks']} tasks; {s['swept']}; compared {s['compared']}"]
    text = _lines(*rows)
    text += f"{'preload':<9}" + "".join(f"{n:<8}" for n in names) + f"{'depth':<7}{'ids':<6}{'prefire':<9}{'L1 KiB':<9}{'time us':<9}{'vs 0':<8}verdict\n"
    dash = lambda v: "-" if v < 0 else str(v)
    for p in s["points"]:
        setting = dict(p["setting"])
        gain = f"{s['serial_us'] / p['us']:.2f}" if p["us"] > 0 and s["serial_us"] > 0 else "-"
        time = f"{p['us']:.2f}" if p["us"] >= 0 else "-"
        row = (f"{p['preload']:<9}" + "".join(f"{setting.get(n, ''):<8}" for n in names) + f"{dash(p['depth']):<7}{dash(p['ids']):<6}{dash(p['prefire']):<9}"
               f"{dash(p['l1_bytes'] // 1024 if p['l1_bytes'] >= 0 else -1):<9}{time:<9}{gain:<8}{p['state']} {p['reason']}")
        text += (row.rstrip() + ("  <- best" if p is best else ""))[:100] + "\n"
    floor = f"floor      {s['floor_us']:.2f} us: {s['floor_note']}" if s["floor_us"] >= 0 else ""
    return text + _lines(floor, f"advice     {s['advice']}" if s["advice"] else "")
