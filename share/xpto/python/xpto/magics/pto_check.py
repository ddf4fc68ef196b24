"""%pto_check out ref: is the difference a bug?"""
from __future__ import annotations

from typing import Any

from xpto.magics import Option, UsageError, parse_line

OPTIONS = [
    Option("rtol", "float", "relative tolerance shown beside the derived one"),
    Option("atol", "float", "absolute tolerance shown beside the derived one"),
    Option("k", "int", "length of the longest sum behind an element; default: from the last kernel's matmuls"),
]
DOC = """Compares an output with a reference and says whether the difference is rounding or a bug.

%pto_check out ref [rtol=1e-3] [atol=1e-3] [k=64]

`ref` is an array, or a function of the last kernel's arguments: its own steps then give the thresholds."""


def register(shell: Any) -> None:
    from IPython.core.magic import no_var_expand

    @no_var_expand
    def pto_check(line: str) -> Any:
        names, options = parse_line("%pto_check", line, OPTIONS, DOC)
        if names is None:
            return None
        if len(names) != 2:
            raise UsageError("%pto_check: two expressions, the output and its reference: %pto_check out ref")
        got, expected = (eval(n, shell.user_ns) for n in names)
        from xpto.compare import compare
        number = {k: float(options[k]) for k in ("rtol", "atol") if k in options}
        kernel = shell.user_ns.get("_pto_last_kernel")
        return compare(got, expected, name=names[0], k=int(options["k"]) if "k" in options else None, kernel=kernel, **number)

    pto_check.__doc__ = DOC
    shell.register_magic_function(pto_check, magic_kind="line", magic_name="pto_check")
