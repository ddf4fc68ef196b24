"""xpto tune FILE.py: sweep settings of one kernel; every point is checked against preload 0.

Data come from the file's xpto_inputs() (it returns the arguments as a tuple or a dict), else are random numbers of the declared shapes.
"""
from __future__ import annotations

import argparse
import json
import sys

SUMMARY = "sweep depth, slots and constants of a kernel, every point checked"


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("xpto tune", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", metavar="FILE.py")
    p.add_argument("constants", nargs="*", metavar="NAME=64,128", help="values of module constants")
    p.add_argument("--kernel", help="which kernel of the file")
    p.add_argument("--preload", default=None, metavar="0:4", help="depths, both ends included (default 0:4)")
    p.add_argument("--slots", default=None, metavar="NAME:2-4", help="slot counts of a tile group")
    p.add_argument("--block-dim", type=int, default=1, metavar="N")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    return p


def main(argv: list[str]) -> int:
    args = _parser().parse_intermixed_args(argv)
    from xpto import file_inputs
    from xpto.tune import slot_counts, tune, values_of
    try:
        kernel, space = file_inputs.kernel_of(args.file, args.kernel)
        constants = {}
        for word in args.constants:
            name, sign, values = word.partition("=")
            if not sign:
                raise file_inputs.WrongUsage(f"{word!r}: write NAME=64,128")
            constants[name] = values_of(values)
        slots = slot_counts(args.slots)
        preload = values_of(args.preload) if args.preload is not None else None
    except (file_inputs.WrongUsage, ValueError) as e:
        print(f"xpto tune: {e}", file=sys.stderr)
        return 2
    maker = space.get("xpto_inputs")
    with file_inputs.refusals_told("tune", kernel.__name__):
        if callable(maker):
            result = tune(kernel, preload=preload, slots=slots, block_dim=args.block_dim, inputs=maker, **constants)
        else:
            result = tune(kernel, *file_inputs.generated(kernel), preload=preload, slots=slots, block_dim=args.block_dim, **constants)
    print(json.dumps(result.to_json(), ensure_ascii=False) if args.json else result.text(), end="\n" if args.json else "")
    return 0 if result.best is not None else 1
