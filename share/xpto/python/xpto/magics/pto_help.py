"""%pto_help: the magics, or one name of the language."""
from __future__ import annotations

from typing import Any

from xpto.magics import UsageError, parse_line

DOC = """Help with examples: %pto_help lists the magics; %pto_help pl.move explains an operation."""

_OVERVIEW = """%%pto_kernel preload=2        define and compile the cell's kernels, show plan, proof and prediction
%pto_run k(a, b, out)         run, with findings; hostile=all tries the orders most likely to break it
%pto_check out ref            is the difference a bug?
%pto_profile k(a, b, out)     where the time goes: stages computing, moving, waiting
%pto_tune k(a, b, out)        depth, slots=p:2-4, TILE=32,64: every setting checked and timed
%pto_sync  %pto_memory        plan and memory map of the last (or the named) kernel
%pto_code  %pto_diff          the generated text, and what it changes
%pto_export trace             a trace or a reproduction bundle of the last kernel
%pto_device                   where kernels can run, and what the others lack
%pto_config check=warn        defaults of this session
%pto_help pl.move             one operation; Shift-Tab does the same while typing
k[None, 8](a, b, out)         an ordinary launch: 8 blocks, quietly"""


def register(shell: Any) -> None:
    def pto_help(line: str) -> None:
        names, _ = parse_line("%pto_help", line, [], DOC)
        if not names:
            print(_OVERVIEW)
            return
        from xpto import _engine, assist
        for name in names:
            path = name if name.startswith(("pl.", "vf.")) else "pl." + name
            found = assist.explain(path) or assist.explain("vf." + name)
            if found is None:
                near = _engine.nearest_operation(name.removeprefix("pl."))
                raise UsageError(f"%pto_help: nothing is called {name}" + (f"; did you mean pl.{near}?" if near else ""))
            print(found[0])

    pto_help.__doc__ = DOC
    shell.register_magic_function(pto_help, magic_kind="line", magic_name="pto_help")
