"""xpto profile FILE.py: run one kernel and show its predicted timeline.
xpto profile --import PATH [FILE.py]: show what the toolkit's profiler has recorded, beside the prediction when a file is named.

Data come from the file's xpto_inputs() (it returns the arguments as a tuple or a dict), else are random numbers of the declared shapes.
"""
from __future__ import annotations

import argparse
import json
import sys

SUMMARY = "run a kernel and show where its time goes"


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("xpto profile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", metavar="FILE.py", nargs="?")
    p.add_argument("--import", dest="measured", metavar="PATH", help="a profiler's folder or file (kernel_details.csv, op_summary*.csv, trace_view.json ...)")
    p.add_argument("--schedule", metavar="skip_first=5,warmup=1,active=1", help="with --import: when the profiler was to record")
    p.add_argument("--steps", type=int, metavar="N", help="with --schedule: how many steps the program took")
    p.add_argument("--kernel", help="which kernel of the file")
    p.add_argument("--preload", type=int, metavar="N", help="pipeline depth; overrides the decorator")
    p.add_argument("--target", help="ascend950, ascend910b ...")
    p.add_argument("--block-dim", type=int, default=1, metavar="N")
    p.add_argument("--against", metavar="FILE", help="compare with an earlier run: what --json printed then")
    p.add_argument("--trace", metavar="FILE", help="also write a Chrome trace")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    return p


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    if args.measured:
        from xpto.msprof import show
        return show(args)
    if args.file is None:
        print("xpto profile: name a file, or --import what a profiler has recorded", file=sys.stderr)
        return 2
    from xpto import file_inputs, trace
    from xpto.errors import InternalError, PtoError
    from xpto.profile import against, against_text, ask_preload, of_run
    earlier = None
    if args.against:
        try:
            with open(args.against, encoding="utf-8") as file:
                earlier = json.load(file)
            if not {"total", "stages", "lanes", "kernel"} <= set(earlier):
                raise ValueError("no JSON of xpto profile")
        except (OSError, ValueError, TypeError) as e:
            print(f"xpto profile: --against {args.against}: {e}", file=sys.stderr)
            return 2
    try:
        kernel, space = file_inputs.kernel_of(args.file, args.kernel)
    except file_inputs.WrongUsage as e:
        print(f"xpto profile: {e}", file=sys.stderr)
        return 2
    if args.preload is not None and kernel.options.get("pipeline") is None:
        print(f"xpto profile: {kernel.__name__} has no pipeline= option, so --preload does not fit", file=sys.stderr)
        return 2
    kernel.overrides = {k: getattr(args, k) for k in ("preload", "target") if getattr(args, k) is not None}
    with file_inputs.refusals_told("profile", kernel.__name__):
        values, named = file_inputs.inputs_of(kernel, space)
        key = kernel.variants()[0] if kernel.options.get("tiling_key") else None
        run = kernel.launch(values, named, block_dim=args.block_dim, tiling_key=key)

    def total_at(depth: int) -> int | None:
        kept = kernel.overrides
        kernel.overrides = {**kept, "preload": depth}
        try:
            return int(kernel.launch(values, named, block_dim=args.block_dim, tiling_key=key).timeline().to_json()["total"])
        except InternalError:
            raise
        except PtoError:
            return None  # the plan does not allow this depth
        finally:
            kernel.overrides = kept

    view = of_run(run, ask_preload(run.timeline(), kernel, total_at))
    comparison = ""
    if earlier is not None:
        view.to_json()["against"] = against(view.to_json(), earlier)
        comparison = against_text(view.to_json())
    if args.trace:
        trace.write(view.to_json(), args.trace)
    print(json.dumps(view.to_json(), ensure_ascii=False) if args.json else view.text() + comparison, end="\n" if args.json else "")
    return 0
