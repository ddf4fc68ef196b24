"""xpto compile FILE.py: compile its kernels and say what came of it."""
from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

SUMMARY = "compile the kernels of a file"


def _preload(text: str) -> int | list[int]:
    values = [int(part) for part in text.split(",")]
    return values[0] if len(values) == 1 else values


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("xpto compile", description=__doc__)
    p.add_argument("file", metavar="FILE.py")
    p.add_argument("--kernel", help="the kernel to compile (default: every kernel at top level)")
    p.add_argument("--all-kernels", action="store_true", help="also kernels inside functions; prints kernels[] with ok and diagnostics")
    p.add_argument("--preload", type=_preload, metavar="N|N,M", help="pipeline depth; overrides the decorator")
    p.add_argument("--target", help="ascend950, ascend910b ...")
    p.add_argument("--check", choices=("strict", "warn"), default=None)
    p.add_argument("--out", metavar="DIR", help="copy the artefacts here")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--advice", action="store_true", help="add the preload sweep: what each preload needs, the largest safe one, id lists to drop or share")
    p.add_argument("--time", type=int, metavar="N", help="compile N times and add medians (time.*)")
    return p


def _failed(name: str, code: str, message: str, file: str) -> dict[str, Any]:
    return {"schema": 1, "kernel": name, "name": name, "ok": False,
            "diagnostics": [{"code": code, "severity": "error", "message": message, "file": file, "line": 1, "column": 1,
                             "end": {"line": 1, "column": 1}, "labels": [], "fix": None}]}


def _timings(kernel: Any, overrides: dict[str, Any], key: dict[str, int], runs: int) -> dict[str, float]:
    from xpto import _engine
    front, without_parse, total = [], [], []
    for _ in range(runs):
        _engine.forget_sources()
        kernel._compiled.clear()
        begin = time.perf_counter()
        made = kernel.compile(tiling_key=key, **overrides)
        total.append(time.perf_counter() - begin)
        spent = made.native.timings()
        front.append(spent["frontend_s"])
        without_parse.append(spent["frontend_s"] - spent["parse_s"])
    return {"frontend_median_s": statistics.median(front), "frontend_without_parse_median_s": statistics.median(without_parse),
            "total_median_s": statistics.median(total), "runs": runs}


def _one(kernel: Any, args: argparse.Namespace) -> tuple[dict[str, Any], Any, bool]:
    overrides = {k: getattr(args, k) for k in ("preload", "target", "check") if getattr(args, k) is not None}
    if "preload" in overrides and kernel.options.get("pipeline") is None:
        del overrides["preload"]
    from xpto import tiling_keys
    key = tiling_keys.first_legal(kernel.options["tiling_key"]) if kernel.options.get("tiling_key") else {}
    made = kernel.compile(tiling_key=key, **overrides)
    data = made.to_json()
    data["name"], data["ok"] = kernel.__name__, made.ok
    if key:
        data["tiling_key"] = key
    if args.time:
        data["time"] = _timings(kernel, overrides, key, args.time)
    if args.out:
        folder = Path(args.out) if args.kernel else Path(args.out) / kernel.__name__
        data["artifacts"] = made.save(str(folder))
    elif args.json and made.ok:
        data["artifacts"] = made.artefacts()
    return data, made, made.ok


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    path = Path(args.file)
    if not path.is_file():
        print(f"xpto compile: no file {args.file}", file=sys.stderr)
        return 2
    from xpto.errors import PtoError
    from xpto.static_file import StaticFile
    try:
        file = StaticFile(path)
    except SyntaxError as e:
        data = _failed("", "PTO-syntax", f"{e.msg}", args.file)
        data["diagnostics"][0].update(line=e.lineno or 1, column=e.offset or 1)
        print(json.dumps(data) if args.json else f"REFUSED  {args.file}:{e.lineno}:{e.offset}: {e.msg}")
        return 1
    chosen = file.kernels
    if args.kernel:
        chosen = [k for k in chosen if k.__name__ == args.kernel]
        if not chosen:
            why = file.problems.get(args.kernel)
            known = ", ".join(dict.fromkeys(file.names)) or "no kernel"
            print(f"xpto compile: {args.file} has no kernel {args.kernel}" + (f" ({why})" if why else f"; it has {known}"), file=sys.stderr)
            return 2
        chosen = chosen[-1:]
    results, texts, good = [], [], True
    for kernel in chosen:
        try:
            data, made, ok = _one(kernel, args)
            texts.append(made.text() + ("\n" + made.view("advice").text() if args.advice else ""))
        except PtoError as e:
            data, ok = _failed(kernel.__name__, e.code or "PTO-refused", str(e), args.file), False
            texts.append(f"REFUSED  {kernel.__name__}: {e}")
        results.append(data)
        good = good and ok
    if args.all_kernels:
        results += [_failed(name, "PTO-definition", f"the definition could not be evaluated: {why}", args.file)
                    for name, why in file.problems.items() if name not in file.names and not args.kernel]
    if not chosen and not args.all_kernels:
        from xpto import dialect
        if (place := dialect.found_in(file.tree)) is not None:
            data = _failed("", "PTO-other-dialect", dialect.sentence(place[2]), args.file)
            data["diagnostics"][0].update(line=place[0], column=place[1])
            print(json.dumps(data, ensure_ascii=False) if args.json else f"REFUSED  {args.file}:{place[0]}:{place[1]}: {dialect.sentence(place[2])}")
            return 1
        print(f"xpto compile: {args.file} defines no kernel; decorate a function with @pl.jit", file=sys.stderr)
        return 2
    if args.json:
        single = len(results) == 1 and not args.all_kernels
        print(json.dumps(results[0] if single else {"schema": 1, "file": args.file, "kernels": results}, ensure_ascii=False))
    else:
        print("\n\n".join(texts))
    return 0 if good else 1
