"""SIGINT as KeyboardInterrupt: only while a cell runs, never inside a section that must finish, and as a cancellation while a cell awaits."""
from __future__ import annotations

import asyncio
import signal
import threading
from types import FrameType, TracebackType


class Held:
    """`with held:` lets the main thread finish: an interrupt inside is raised at the end of the outermost section."""

    def __init__(self) -> None:
        self.depth = 0
        self.waiting = False

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self.depth += 1

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth -= 1
        if self.depth == 0 and self.waiting:
            self.waiting = False
            if kind is None and cell.running:
                raise KeyboardInterrupt


class Cell:
    """Whether a cell runs, and whether an interrupt has cancelled its event loop."""

    def __init__(self) -> None:
        self.running = False
        self.cancelled = False


held = Held()
cell = Cell()


def _on_sigint(number: int, frame: FrameType | None) -> None:
    if not cell.running:
        return
    if held.depth:
        held.waiting = True
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        loop = None
    if loop is not None and asyncio.current_task(loop) is None:
        # the loop is waiting: an exception here would leave it in the middle of its own bookkeeping
        cell.cancelled = True
        for task in asyncio.all_tasks(loop):
            loop.call_soon_threadsafe(task.cancel)
        return
    raise KeyboardInterrupt


def install() -> None:
    """Makes the handler Python's; the kernel process decides when the signal gets here at all (kernel/session.cpp)."""
    signal.signal(signal.SIGINT, _on_sigint)
