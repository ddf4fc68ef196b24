"""%pto_tune: sweep settings of a kernel over the user's data."""
from __future__ import annotations

from typing import Any

from xpto.magics import Option, UsageError, parse_line
from xpto.magics._line import LineError, split_line
from xpto.magics.pto_run import read_call, split_call

OPTIONS = [
    Option("preload", "0:4, or 0,1,2", "depths to try, both ends included (default 0:4)"),
    Option("slots", "NAME:2-4", "slot counts of a tile group; several: slots=p:2-4,out:2,3"),
    Option("block_dim", "int", "number of blocks (default 1)"),
    Option("NAME", "64,128", "values of a module constant of the kernel's text"),
]
DOC = """Sweeps settings: every point is compiled, run on copies of the data, compared bit for bit with preload 0 and timed by the model.

%pto_tune k(a, b, out) preload=0:4 [slots=p:2-4] [TILE=64,128]

Interrupting keeps the points that are done. Outputs of yours stay as they are."""


def register(shell: Any) -> None:
    from IPython.core.magic import no_var_expand

    @no_var_expand
    def pto_tune(line: str) -> Any:
        text, rest = split_call(line.strip())
        if not text or text.startswith("-"):
            parse_line("%pto_tune", line or "--help", OPTIONS, DOC)
            return None
        call = read_call(shell, "pto_tune", text)
        space = call.kernel.__xpto_function__.__globals__
        try:
            names = [n for n, _ in split_line(rest)[1] if type(space.get(n)) in (int, float)]
        except LineError:
            names = []  # parse_line says what is wrong
        known = [o for o in OPTIONS if o.name != "NAME"] + [Option(n, "", "") for n in dict.fromkeys(names)]
        words, options = parse_line("%pto_tune", rest, known, DOC)
        if options is None:
            return None
        if words:
            raise UsageError(f"%pto_tune: write name=value, got {' '.join(words)}")
        from xpto.tune import slot_counts, tune, values_of
        try:
            constants = {n: values_of(options[n]) for n in options if n in names}
            preload = values_of(options["preload"]) if "preload" in options else None
            slots = slot_counts(options.get("slots"))
        except ValueError as e:
            raise UsageError(f"%pto_tune: {e}") from None
        shell.user_ns["_pto_last_kernel"] = call.kernel
        return tune(call.kernel, *call.args, preload=preload, slots=slots, block_dim=int(options.get("block_dim", call.block_dim)),
                    tiling_key=call.tiling_key, **call.kwargs, **constants)

    pto_tune.__doc__ = DOC
    shell.register_magic_function(pto_tune, magic_kind="line", magic_name="pto_tune")
