"""xpto release FILE -o DIR: a kernel as a package for the operator library."""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

SUMMARY = "package a kernel for the operator library"


def _pairs(items: list[str], what: str) -> dict[str, str]:
    out = {}
    for item in items:
        name, sign, value = item.partition("=")
        if not sign:
            raise argparse.ArgumentTypeError(f"{what} is NAME=VALUE, not {item!r}")
        out[name] = value
    return out


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("xpto release", description=__doc__)
    p.add_argument("file", metavar="FILE.py", nargs="?")
    p.add_argument("-o", "--out", metavar="DIR", help="folder of the package")
    p.add_argument("--kernel", help="the kernel to release (default: the file's only one)")
    p.add_argument("--target", default="", help="ascend950 (default), ascend910b ...")
    p.add_argument("--dtype", action="append", default=[], metavar="NAME=DT_X", help="element type of a parameter of datatype=; once a parameter")
    p.add_argument("--shape", action="append", default=[], metavar="NAME=N,M", help="sizes of a tensor with pl.STATIC axes; once a tensor")
    p.add_argument("--real-type", action="store_true", help="a kernel with one kind of core is released as such, not as a mix of 1:2")
    p.add_argument("--seal", metavar="DIR", help="after build.sh: move the objects in place and write their digests into the manifests")
    p.add_argument("--json", action="store_true")
    return p


def shapes_of(kernel: Any, given: dict[str, str]) -> list[list[int]] | None:
    """A list of sizes a tensor parameter, in order; None when none was given."""
    if not given:
        return None
    import inspect
    annotations = kernel.__xpto_function__.__annotations__
    names = [n for n in inspect.signature(kernel.__xpto_function__).parameters
             if "Tensor" in (annotations.get(n) if isinstance(annotations.get(n), str) else repr(annotations.get(n)))]
    unknown = sorted(set(given) - set(names))
    if unknown:
        from xpto.errors import PtoError
        raise PtoError(f"--shape names {', '.join(unknown)}, the kernel's tensors are {', '.join(names)}")
    return [[int(n) for n in given[name].split(",")] if name in given else [] for name in names]


def main(argv: list[str]) -> int:
    from xpto import release
    from xpto.errors import PtoError
    args = _parser().parse_args(argv)
    try:
        if args.seal:
            print("\n".join("sealed " + name for name in release.seal_folder(Path(args.seal))))
            return 0
        if not args.file or not args.out:
            print("xpto release: name a file and a folder: xpto release FILE.py -o DIR", file=sys.stderr)
            return 2
        if not Path(args.file).is_file():
            print(f"xpto release: no file {args.file}", file=sys.stderr)
            return 2
        from xpto.static_file import StaticFile
        file = StaticFile(Path(args.file))
        chosen = [k for k in file.kernels if args.kernel in (None, k.__name__)]
        if len(chosen) != 1:
            known = ", ".join(k.__name__ for k in file.kernels) or "no kernel"
            print(f"xpto release: one kernel at a time; {args.file} has {known}" + ("" if args.kernel else "; choose with --kernel"), file=sys.stderr)
            return 2
        kernel = chosen[0]
        made = release.make(kernel, Path(args.out), target=args.target, datatype=_pairs(args.dtype, "--dtype") or None,
                            static_shapes=shapes_of(kernel, _pairs(args.shape, "--shape")), real_type=args.real_type)
    except argparse.ArgumentTypeError as e:
        print(f"xpto release: {e}", file=sys.stderr)
        return 2
    except PtoError as e:
        print(f"REFUSED  {e}", file=sys.stderr)
        return 1
    print(json.dumps(made.to_json()) if args.json else made.text())
    return 1 if made.refused else 0
