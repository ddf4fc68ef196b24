"""How running work reaches the notebook: text in order, displays, and progress that never floods the page."""
from __future__ import annotations

import sys
import time
from html import escape
from typing import Any
from uuid import uuid4

UPDATES_PER_SECOND = 10


def write(text: str, stream: str = "stdout") -> None:
    """Text of a running program, in order with what Python prints."""
    getattr(sys, stream).write(text)


def show(bundle: dict[str, Any], display_id: str = "", update: bool = False) -> None:
    """One display; in a script without a notebook its text/plain."""
    shell = _shell()
    if shell is None:
        print(bundle.get("text/plain", ""))
        return
    shell.display_pub.publish(bundle, {}, transient={"display_id": display_id} if display_id else {}, update=update)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


class Progress:
    """One line that moves. Updates come at most ten times a second, the final state always.

    with Progress("tuning", total=64) as p:
        for i in range(64): p.update(i + 1, "best 12.3 us")
    """

    def __init__(self, label: str, total: int | None = None) -> None:
        self.label, self.total = label, total
        self.done, self.note = 0, ""
        self._id = f"xpto-progress-{uuid4().hex[:12]}"  # an id of its own: a second run must not write into the first one's line
        self._shown = 0.0
        self._visible = False

    def update(self, done: int, note: str = "") -> None:
        self.done, self.note = done, note
        now = time.monotonic()
        if now - self._shown >= 1 / UPDATES_PER_SECOND:
            self._shown = now
            self._show()

    def close(self) -> None:
        self._show()

    def __enter__(self) -> "Progress":
        self._show()
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def text(self) -> str:
        of = f"/{self.total}" if self.total is not None else ""
        return f"{self.label}: {self.done}{of}{' ' + self.note if self.note else ''}"

    def _show(self) -> None:
        if _shell() is None:
            return  # a script's output is for its own text
        span = f' value="{self.done}" max="{max(self.total, 1)}"' if self.total is not None else ""
        html = f"<progress{span}></progress> {escape(self.text())}"
        show({"text/plain": self.text(), "text/html": html}, self._id, update=self._visible)
        self._visible = True
