"""%pto_code, %pto_diff, %pto_sync, %pto_memory, %pto_cpp: one view of the last or the named kernel."""
from __future__ import annotations

from typing import Any

from xpto.kernel import OperatorKernel
from xpto.magics import UsageError, parse_line

_VIEWS = {
    "pto_code": ("code", "The pipelined code that runs (pipeline_generated.py)."),
    "pto_diff": ("diff", "The generated code against the source."),
    "pto_sync": ("sync", "The sync plan: who waits for whom, where, with which id; and its proof."),
    "pto_memory": ("memory", "What lies where in each memory, what overlaps, where is room."),
    "pto_cpp": ("cpp", "The generated C++."),
}


def find_kernel(shell: Any, magic: str, name: str | None) -> OperatorKernel:
    """The kernel a magic means: the named one, else the last one compiled in this session."""
    if not name:
        last = shell.user_ns.get("_pto_last_kernel")
        if last is None:
            raise UsageError(f"%{magic}: no kernel was compiled yet; run a %%pto_kernel cell, or name a kernel")
        return last
    found = shell.user_ns.get(name)
    if not isinstance(found, OperatorKernel):
        known = [k for k, v in shell.user_ns.items() if isinstance(v, OperatorKernel) and not k.startswith("_")]
        raise UsageError(f"%{magic}: {name!r} is not an operator kernel; known: {', '.join(known) or 'none'}")
    return found


def last_compilation(kernel: OperatorKernel) -> Any:
    return kernel.last if kernel.last is not None and not kernel.last.stale() else kernel.compile(tiling_key=kernel.variants()[0])


def register(shell: Any) -> None:
    for magic, (view, doc) in _VIEWS.items():
        def show(line: str, magic: str = magic, view: str = view) -> Any:
            names, _ = parse_line("%" + magic, line, [], _VIEWS[magic][1] + f"\n\n%{magic} [kernel]")
            if names is None:
                return None
            if len(names) > 1:
                raise UsageError(f"%{magic}: one kernel at a time, got {' '.join(names)}")
            return last_compilation(find_kernel(shell, magic, names[0] if names else None)).view(view)
        show.__doc__ = doc
        shell.register_magic_function(show, magic_kind="line", magic_name=magic)
