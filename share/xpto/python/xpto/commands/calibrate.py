"""xpto calibrate FILE.csv: a chip file from measurements of your own card.

Columns key,units,cycles: a timing key of docs/targets.md, how many of its units were worked on, how long it took. Two sizes of a key give its
start-up and its rate. `constant.NAME` and `chip.clock_mhz` rows give a value in the column cycles. Use the file as target=FILE.json.
"""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

SUMMARY = "a chip file from measurements of your own card"


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("xpto calibrate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", metavar="FILE.csv")
    p.add_argument("-o", "--output", metavar="CHIP.json", help="where the chip goes; else it is printed")
    p.add_argument("--base", default="ascend950", metavar="CHIP", help="built-in chip whose numbers hold where nothing was measured")
    p.add_argument("--name", help="of the chip; else the file's")
    return p


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    from xpto.calibrate import BadMeasurements, calibrate
    path = Path(args.file)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        print(f"xpto calibrate: {args.file}: {e}", file=sys.stderr)
        return 2
    try:
        result = calibrate(text, base=args.base, name=args.name or path.stem, source=path.name)
    except BadMeasurements as e:
        print(f"REFUSED  {args.file}: {e}", file=sys.stderr)
        return 1
    chip = json.dumps(result.chip, indent=2) + "\n"
    if not args.output:
        print(chip, end="")
        print(result.text(), end="", file=sys.stderr)
        return 0
    try:
        Path(args.output).write_text(chip, encoding="utf-8")
    except OSError as e:
        print(f"xpto calibrate: {args.output}: {e}", file=sys.stderr)
        return 2
    print(result.text(), end="")
    print(f"written to {args.output}; use it as target=\"{args.output}\"")
    return 0
