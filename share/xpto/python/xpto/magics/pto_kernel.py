"""%%pto_kernel: define and compile what the cell contains, and show the result."""
from __future__ import annotations

import inspect as _inspect
from typing import Any

from xpto import cell_head
from xpto import kernel as kernels
from xpto import sources
from xpto.magics import Option, UsageError, parse_line

OPTIONS = [
    Option("preload", "int, or N,M for several loops", "depth of the pipeline; overrides the decorator"),
    Option("target", "ascend950, ascend910b ...", "chip to compile for; overrides the decorator's arch="),
    Option("check", "strict, warn", "refuse what is not proven, or compile it and say so"),
    Option("show", "panel, none", "what the cell shows"),
    Option("device", "sim", "where launches of this kernel run"),
    Option("kernel", "name", "which kernel of the cell the overrides are for"),
]


class Panels:
    """Results of a cell with several kernels: one section each."""

    def __init__(self, results: list[Any]) -> None:
        self.results = results

    def text(self) -> str:
        return "\n\n".join(r.text() for r in self.results)

    def to_json(self) -> list[Any]:
        return [r.to_json() for r in self.results]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundles = [r._repr_mimebundle_() for r in self.results]
        return {"text/plain": "\n\n".join(b["text/plain"] for b in bundles), "text/html": "<hr>".join(b["text/html"] for b in bundles)}

    def __repr__(self) -> str:
        return self.text()


def _preload(text: str) -> int | list[int]:
    try:
        values = [int(part) for part in text.strip("[]() ").split(",") if part.strip()]
    except ValueError:
        raise UsageError(f"%%pto_kernel: preload needs an int or a list of ints, got {text!r}") from None
    if not values:
        raise UsageError("%%pto_kernel: preload needs a value")
    return values[0] if len(values) == 1 and "[" not in text else values


def define(shell: Any, body: str) -> list[kernels.OperatorKernel]:
    """Runs a cell's body in the user's namespace with its own source text; returns the kernels it made."""
    number = shell.execution_count
    text = "\n" * (1 + cell_head.lines_above) + body  # the magic's own line, and comments that stand above it
    filename = sources.register(text, f"In[{number}]")
    before = len(kernels.created)
    code = compile(text, filename, "exec", dont_inherit=True)
    exec(code, shell.user_ns)
    made = kernels.created[before:]
    del kernels.created[:]
    return made


def pto_kernel(shell: Any, line: str, cell: str) -> Any:
    """Defines what the cell contains, compiles its kernels and shows the result.

    %%pto_kernel [name ...] [preload=N] [target=CHIP] [check=strict|warn] [show=panel|none] [kernel=NAME]

    The options override the decorators; the panel prints the line to paste there. The last kernel of the cell becomes "the last
    kernel" for %pto_sync, %pto_code and the other views.
    """
    names, options = parse_line("%%pto_kernel", line, OPTIONS, pto_kernel.__doc__)
    if names is None:
        return None
    made = define(shell, cell)
    if not made:
        raise UsageError("%%pto_kernel: the cell defines no kernel; decorate a function with @pl.jit (and give it Tensor parameters)")
    wanted = options.get("kernel")
    if wanted and wanted not in [k.__name__ for k in made]:
        raise UsageError(f"%%pto_kernel: the cell has no kernel {wanted}; it has {', '.join(k.__name__ for k in made)}")
    chosen = [k for k in made if not names or k.__name__ in names]
    overrides = {key: options[key] for key in ("target", "check") if key in options}
    if "preload" in options:
        overrides["preload"] = _preload(options["preload"])
        piped = [k for k in chosen if k.options.get("pipeline") is not None]
        if len(piped) < len(chosen) and not wanted:
            other = next(k for k in chosen if k not in piped)
            raise UsageError(f"%%pto_kernel: preload does not fit {other.__name__}, which has no pipeline= option; "
                             f"name the kernel it is for: kernel={(piped or chosen)[0].__name__}")
    results = []
    for k in chosen:
        k.overrides = dict(overrides) if not wanted or k.__name__ == wanted else {}
        for key in k.variants()[:64]:
            results.append(k.compile(tiling_key=key))
    shell.user_ns["_pto_last_kernel"] = chosen[-1]
    failed = [r for r in results if not r.ok]
    shown = None if options.get("show") == "none" else results[0] if len(results) == 1 else Panels(results)
    if failed:
        from IPython.display import display
        if shown is not None:
            display(shown)
        raise failed[0].error()
    return shown


def register(shell: Any) -> None:
    def magic(line: str, cell: str) -> Any:
        return pto_kernel(shell, line, cell)
    magic.__doc__ = _inspect.getdoc(pto_kernel)
    shell.register_magic_function(magic, magic_kind="cell", magic_name="pto_kernel")
