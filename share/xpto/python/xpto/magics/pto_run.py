"""%pto_run and %pto_profile: run a kernel call and show what happened, or where its time goes."""
from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from xpto.errors import HazardError
from xpto.kernel import OperatorKernel
from xpto.magics import Option, UsageError, parse_line
from xpto.results import Run

OPTIONS = [
    Option("block_dim", "int", "number of blocks (default 1)"),
    Option("device", "sim", "where to run"),
    Option("seed", "int", "random order of events from this seed"),
    Option("hostile", "all, late:PIPE, early:PIPE, random", "orders to run besides program order; values must be bit-identical"),
    Option("check", "strict, warn", "a race raises, or is reported"),
]
RUN_DOC = """Runs a kernel and shows the verdict and its findings.

%pto_run k(a, b, out) [block_dim=N] [hostile=all|late:MTE3|random] [seed=N] [check=strict|warn]

k[None, 4](a, b, out) is accepted too. Output arguments are written in place when the run completes."""
PROFILE_DOC = """Runs a kernel and shows its predicted timeline: every stage computing, moving and waiting.

%pto_profile k(a, b, out) [block_dim=N] [against=last]

against=last draws this profile and the one before it, of any kernel, on one axis, with the difference for each stage."""
PROFILE_OPTIONS = OPTIONS + [Option("against", "last", "compare with the profile before this one")]
_last_profile: dict[str, Any] = {}


def split_call(line: str) -> tuple[str, str]:
    """The call at the head of the line and the options behind it."""
    depth = 0
    for i, c in enumerate(line):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0 and c == ")":
                return line[: i + 1], line[i + 1:]
    return line, ""


@dataclass(frozen=True)
class Call:
    kernel: OperatorKernel
    args: tuple
    kwargs: dict[str, Any]
    block_dim: int
    tiling_key: Any


def read_call(shell: Any, magic: str, text: str, block_dim: str | None = None) -> Call:
    """The launch that k(a, b, out) or k[stream, block_dim, key](a, b, out) means; UsageError when it is neither."""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError as e:
        raise UsageError(f"%{magic}: {text!r} is not a call: {e.msg}; write %{magic} k(a, b, out)") from None
    if not isinstance(call, ast.Call):
        raise UsageError(f"%{magic}: expected a call, k(a, b, out), got {text!r}")

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), f"<{magic}>", "eval"), shell.user_ns)

    blocks, key, callee = block_dim or 1, None, call.func
    if isinstance(callee, ast.Subscript):
        where = value(callee.slice)
        items = where if isinstance(where, tuple) else (None, where)
        blocks = block_dim or items[1]
        key = items[2] if len(items) > 2 else None
        callee = callee.value
    kernel = value(callee)
    if not isinstance(kernel, OperatorKernel):
        raise UsageError(f"%{magic}: {ast.unparse(callee)} is not an operator kernel but {type(kernel).__name__}")
    return Call(kernel, tuple(value(a) for a in call.args), {k.arg: value(k.value) for k in call.keywords if k.arg}, int(blocks), key)


def launch(shell: Any, magic: str, line: str, doc: str, known: list[Option] = OPTIONS, taken: dict[str, Any] | None = None) -> Run | None:
    """The run that a line asks for; None when it asked for help. `taken` receives the options as written."""
    text, rest = split_call(line.strip())
    if not text or text.startswith("-"):
        parse_line("%" + magic, line or "--help", known, doc)
        return None
    _, options = parse_line("%" + magic, rest, known, doc)
    if options is None:
        return None
    if taken is not None:
        taken.update(options)
    call = read_call(shell, magic, text, options.get("block_dim"))
    chosen = {k: options[k] for k in ("seed", "hostile", "check", "device") if k in options}
    if "seed" in chosen:
        chosen["seed"] = int(chosen["seed"])
    shell.user_ns["_pto_last_kernel"] = call.kernel
    try:
        return call.kernel.launch(call.args, call.kwargs, block_dim=call.block_dim, tiling_key=call.tiling_key, **chosen)
    except HazardError as refused:
        if refused.report is not None:  # the picture of what would hang or race stands above the error
            from IPython.display import display
            display(refused.report)
        raise


def register(shell: Any) -> None:
    from IPython.core.magic import no_var_expand

    @no_var_expand
    def pto_run(line: str) -> Any:
        return launch(shell, "pto_run", line, RUN_DOC)

    @no_var_expand
    def pto_profile(line: str) -> Any:
        options: dict[str, Any] = {}
        run = launch(shell, "pto_profile", line, PROFILE_DOC, PROFILE_OPTIONS, options)
        if run is None:
            return None
        from xpto.profile import of_run, with_comparison
        if options.get("against", "last") != "last":
            raise UsageError("%pto_profile: against=last is what it can be compared with")
        before, view = dict(_last_profile), of_run(run)
        _last_profile.clear()
        _last_profile.update(view.to_json())
        if "against" not in options:
            return view
        if not before:
            raise UsageError("%pto_profile: against=last needs a profile before this one in this session")
        return with_comparison(view, before)

    pto_run.__doc__, pto_profile.__doc__ = RUN_DOC, PROFILE_DOC
    shell.register_magic_function(pto_run, magic_kind="line", magic_name="pto_run")
    shell.register_magic_function(pto_profile, magic_kind="line", magic_name="pto_profile")
