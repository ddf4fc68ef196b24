"""A picture of a notebook as a front-end shows it.

    shoot.py NOTEBOOK OUT.png [--html|--lab|--notebook7|--classic] [--untrusted] [--execute] [--dark] [--width 1200]

NOTEBOOK may also be an .html file (--html, the default). What the page asked of other hosts and the errors of its scripts are printed.
"""
from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import front_ends  # noqa: E402
from chromium import Chromium  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("out", type=Path)
    kinds = parser.add_mutually_exclusive_group()
    for kind in front_ends.KINDS:
        kinds.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind)
    parser.set_defaults(kind="html")
    parser.add_argument("--untrusted", action="store_true", help="as a notebook from elsewhere: scripts and inline svg are removed")
    parser.add_argument("--execute", action="store_true", help="run the cells first")
    parser.add_argument("--dark", action="store_true", help="with the front-end's dark theme (lab, notebook7)")
    parser.add_argument("--width", type=int, default=1200)
    args = parser.parse_args()
    why = front_ends.missing(args.kind)
    if why:
        print(f"shoot: {why}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="xpto-shoot-") as name:
        notebook = args.notebook
        if args.execute:
            notebook = Path(name) / args.notebook.name
            front_ends.execute(args.notebook, notebook)
        if args.kind == "html":
            page = notebook if notebook.suffix == ".html" else front_ends.to_html(notebook, Path(name), args.untrusted)
            with Chromium(args.width) as browser:
                browser.open(page.resolve().as_uri())
                browser.pause(1)
                front_ends.fit(browser, "html", args.width)
                _finish(browser, args.out)
        else:
            with front_ends.server(args.kind, [notebook], not args.untrusted, args.dark) as address, Chromium(args.width) as browser:
                front_ends.open_notebook(browser, args.kind, address, notebook.name, front_ends.cell_count(notebook), args.width)
                _finish(browser, args.out)
    return 0


def _finish(browser: Chromium, out: Path) -> None:
    browser.screenshot(out)
    print(f"{out}: {out.stat().st_size:,} bytes")
    for url in sorted(set(browser.outside)):
        print(f"asked outside: {url}")
    for error in browser.errors:
        print(f"script error: {error.splitlines()[0]}")


if __name__ == "__main__":
    sys.exit(main())
