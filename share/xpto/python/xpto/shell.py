"""IPython inside the Jupyter kernel: the shell subclass and the functions that kernel/session.cpp calls."""
from __future__ import annotations

import atexit
import builtins
import faulthandler
import getpass
import importlib
import importlib.util
from types import ModuleType
from typing import Any

import _xpto_host as host
from IPython.core.async_helpers import _asyncio_runner
from IPython.core.interactiveshell import InteractiveShell
from xeus_python_shell.compiler import XCachingCompiler
from xeus_python_shell.display import XDisplayHook, XDisplayPublisher
from xeus_python_shell.shell import XPythonShell, XPythonShellApp

from xpto import cell_head, interrupts, magics
from xpto.plain import plain
from xpto.streams import Console
from xpto.text import repaired


class StdinNotImplementedError(NotImplementedError):
    """input() in a front-end, or a run, that cannot ask."""


class DisplayPublisher(XDisplayPublisher):
    """Displays come after the text printed before them, and odd values never cost the output."""

    def publish(self, data: dict[str, Any], metadata: dict[str, Any] | None = None, source: Any = None, *,
                transient: dict[str, Any] | None = None, update: bool = False, **kwargs: Any) -> None:
        session.console.flush()
        try:
            super().publish(data, metadata or {}, transient=transient, update=update)
        except (RuntimeError, TypeError, ValueError):  # not JSON: NumPy scalars, lone surrogates
            super().publish(plain(data), plain(metadata or {}), transient=transient, update=update)


class DisplayHook(XDisplayHook):
    """Results of cells, with the same two promises."""

    def finish_displayhook(self) -> None:
        try:
            super().finish_displayhook()
        except (RuntimeError, TypeError, ValueError):
            self.data, self.metadata = plain(self.data), plain(self.metadata or {})
            super().finish_displayhook()


class Shell(XPythonShell):
    # Version 0.7 of the base replaces these two by variants that IPython's own run_cell cannot call, and %%capture with it.
    loop_runner_map = InteractiveShell.loop_runner_map
    run_cell_async = InteractiveShell.run_cell_async
    last_error: list[Any] | None = None

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        name = getattr(etype, "__name__", str(etype))
        if interrupts.cell.cancelled and name == "CancelledError":
            name, stb = "KeyboardInterrupt", [*stb[:-1], "\x1b[0;31mKeyboardInterrupt\x1b[0m: the cell was waiting"]
        self.last_error = [name, repaired(str(evalue)), [repaired(line) for line in stb]]

    def ask_exit(self) -> None:
        """exit(): the front-end is asked to close. The process stays, so nothing is lost when it declines."""
        self.payload_manager.write_payload({"source": "ask_exit", "keepkernel": False})

    def enable_gui(self, gui: str | None = None) -> None:
        """No event loop of a window system runs here."""


class ShellApp(XPythonShellApp):
    def init_shell(self, *args: Any) -> None:
        self.shell = Shell.instance(display_pub_class=DisplayPublisher, displayhook_class=DisplayHook,
                                    compiler_class=XCachingCompiler, user_ns=self.user_ns)
        self.shell.loop_runner = _asyncio_runner
        self.shell.Completer.use_jedi = True


class _Session:
    """What the functions below share; filled by begin()."""
    shell: Shell
    console: Console
    allow_stdin = False
    assist: ModuleType | None = None


session = _Session()


def begin(shell: Shell) -> None:
    """Gives the shell its streams, its input and its magics."""
    session.shell = shell
    session.console = Console()
    session.console.install()
    try:
        faulthandler.enable(host.terminal())  # the server's log: a captured stream dies with the process
    except (OSError, ValueError):
        pass
    builtins.input, getpass.getpass = _input, _getpass
    _clear_in_order(shell.display_pub)
    interrupts.install()
    if importlib.util.find_spec("xpto.assist") is not None:
        session.assist = importlib.import_module("xpto.assist")
    cell_head.install(shell)
    magics.register_all(shell)
    atexit.register(session.console.stop)


def _clear_in_order(publisher: DisplayPublisher) -> None:
    """clear_output() clears what was printed before it. xeus-python has put its own function there."""
    clear = publisher.clear_output

    def clear_output(wait: bool = False) -> None:
        session.console.flush()
        clear(wait)

    publisher.clear_output = clear_output


def _ask(prompt: Any, password: bool) -> str:
    if not session.allow_stdin:
        raise StdinNotImplementedError("input() was called, but this front-end does not support input requests")
    session.console.flush()
    return host.input(repaired(str(prompt)), password)


def _input(prompt: Any = "", /) -> str:
    return _ask(prompt, False)


def _getpass(prompt: str = "Password: ", stream: Any = None) -> str:
    return _ask(prompt, True)


# ---------------------------------------------------------------------- requests


def run_cell(code: str, number: int, silent: bool, store_history: bool, user_expressions: dict[str, str] | None,
             allow_stdin: bool) -> dict[str, Any]:
    """Runs one cell and returns its reply. A KeyboardInterrupt may still leave between two bytecodes; the caller knows."""
    shell, session.allow_stdin = session.shell, allow_stdin
    shell.last_error, result = None, None
    if not silent:
        shell.execution_count = number  # the number that the front-end shows beside the cell
    session.console.begin_cell(number)
    interrupts.cell.cancelled = False
    try:
        interrupts.cell.running = True
        try:
            result = shell.run_cell(code, store_history=store_history, silent=silent)
        finally:
            interrupts.cell.running = False
    except KeyboardInterrupt:
        if shell.last_error is None:
            shell.last_error = ["KeyboardInterrupt", "", ["\x1b[0;31mKeyboardInterrupt\x1b[0m"]]
    interrupts.cell.running = False
    interrupts.held.waiting = False
    for note in session.console.end_cell():
        shell.display_pub.publish(note)
    payload = shell.payload_manager.read_payload()
    shell.payload_manager.clear_payload()
    if shell.last_error is None and (result is None or result.success):
        return {"status": "ok", "payload": plain(payload), "user_expressions": plain(shell.user_expressions(user_expressions or {}))}
    if shell.last_error is None:  # a UsageError: IPython has printed its one red line
        problem = result.error_before_exec or result.error_in_exec
        return {"status": "error", "ename": type(problem).__name__, "evalue": repaired(str(problem)), "traceback": [],
                "payload": plain(payload), "shown": True}
    name, value, traceback = shell.last_error
    return {"status": "error", "ename": name, "evalue": value, "traceback": traceback, "payload": plain(payload)}


def complete(code: str, cursor: int) -> dict[str, Any] | None:
    """Our own completions; None leaves the question to IPython. Positions count code points, as Python's strings do."""
    return session.assist.complete(code, cursor) if session.assist is not None else None


def inspect(code: str, cursor: int, detail: int) -> dict[str, Any] | None:
    return session.assist.inspect(code, cursor, detail) if session.assist is not None else None


def history(how: str, **arguments: Any) -> list[list[Any]]:
    """Rows [session, line, input or [input, output]]; this session is number 0 for IPython, its own number for Jupyter."""
    manager = session.shell.history_manager
    if how == "tail":
        rows = manager.get_tail(arguments["n"], raw=arguments["raw"], output=arguments["output"], include_latest=True)
    elif how == "range":
        rows = manager.get_range(arguments["session"], arguments["start"], arguments["stop"], raw=arguments["raw"],
                                 output=arguments["output"])
    else:
        rows = manager.search(arguments["pattern"], raw=arguments["raw"], output=arguments["output"], n=arguments["n"],
                              unique=arguments["unique"])
    return [[number or manager.session_number, line, list(text) if isinstance(text, tuple) else text] for number, line, text in rows]
