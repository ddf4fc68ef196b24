"""What happens when a cell prints more than a page can hold: the page gets the beginning, a file gets the rest, a note says how much."""
from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import TextIO

from xpto.interrupts import held

# A notebook server drops stream text above 1 MB/s, and a page with more lines than this is no longer read but scrolled.
CHARACTERS = int(os.environ.get("XPTO_OUTPUT_CHARACTERS", 1 << 20))
LINES = int(os.environ.get("XPTO_OUTPUT_LINES", 25_000))
FILE_BYTES = 1 << 30
BATCH = 1 << 20
FOLDER = "xpto-output"


def _folder() -> Path:
    """Beside the notebook, where a link on the page can reach it; else among the temporary files."""
    for base in (Path.cwd(), Path(tempfile.gettempdir())):
        try:
            (base / FOLDER).mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(base / FOLDER, os.W_OK):
            return base / FOLDER
    raise OSError("no folder to keep long output in")


class Spill:
    """The file behind one stream of one cell."""

    def __init__(self, cell: int, stream: str) -> None:
        self.cell, self.stream = cell, stream
        self.lines = self.size = 0
        self.path: Path | None = None
        self._file: TextIO | None = None
        # A program that has come here prints millions of lines: one append each, the rest per megabyte.
        self._parts: list[str] = []
        self._collected = 0
        self._lock = threading.Lock()
        try:
            self.path = _folder() / f"cell-{cell}-{stream}-{os.getpid()}.txt"
            self._file = open(self.path, "w", encoding="utf-8", errors="replace", newline="")
        except OSError:
            self.path = None

    def write(self, text: str) -> None:
        self._parts.append(text)
        self._collected += len(text)
        if self._collected > BATCH:
            self._store()

    def _store(self) -> None:
        with held, self._lock:
            self._collected, count = 0, len(self._parts)
            text = "".join(self._parts[:count])
            del self._parts[:count]  # another thread may have appended meanwhile
            self.lines += text.count("\n")
            self.size += len(text)
            if self._file is not None and self.size <= FILE_BYTES:
                try:
                    self._file.write(text)
                except OSError:  # disk full: go on counting
                    self.path = self._file = None

    def close(self) -> None:
        self._store()
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                self.path = None
            self._file = None

    def tail(self, lines: int = 5) -> list[str]:
        if self.path is None:
            return []
        with open(self.path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
            return file.read().decode("utf-8", "replace").splitlines()[-lines:]

    def where(self) -> str:
        if self.path is None:
            return "could not be kept: no folder to write to, or the disk is full"
        try:
            return str(self.path.relative_to(Path.cwd()))
        except ValueError:
            return str(self.path)

    def note(self) -> dict[str, str]:
        """What the end of the cell shows: a count, a link and the last lines."""
        from html import escape
        place = self.where()
        kept = "in " if self.path is not None else ""
        whole = "" if self.size <= FILE_BYTES else f" (the first {FILE_BYTES >> 20} MiB of them)"
        head = f"{self.stream}: {self.lines:,} more lines, {self.size:,} characters, {kept}"
        last = "\n".join(self.tail())
        link = f'<a href="{escape(place)}" target="_blank">{escape(place)}</a>' if self.path is not None and not os.path.isabs(place) else escape(place)
        return {"text/plain": f"{head}{place}{whole}" + (f"\nlast lines:\n{last}" if last else ""),
                "text/html": f"<p>{escape(head)}{link}{whole}</p>" + (f"<pre>{escape(last)}</pre>" if last else "")}


class Allowance:
    """How much of one stream one cell may still put on the page. Text that a carriage return has overwritten is not on the page."""

    def __init__(self) -> None:
        self.characters, self.lines = CHARACTERS, LINES
        self._open = 0  # characters of the unfinished line

    def admit(self, text: str) -> int:
        """How many characters of `text` may be shown; the rest is for the file."""
        if len(text) <= self.characters - self._open and "\r" not in text:  # the usual case, without a loop
            lines = text.count("\n")
            if lines <= self.lines:
                self.lines -= lines
                tail = len(text) - 1 - text.rfind("\n") if lines else self._open + len(text)
                self.characters -= (self._open + len(text) - tail) if lines else 0
                self._open = tail
                return len(text)
        position = 0
        for line in text.splitlines(keepends=True):
            visible = line.rstrip("\r\n")
            shown = (0 if "\r" in visible else self._open) + len(visible.rpartition("\r")[2])
            ends = line.endswith("\n")
            if shown > self.characters or (ends and self.lines == 0):
                # a single endless line is cut inside it, others at its beginning
                return position + max(0, self.characters - self._open) if not ends and shown > self.characters else position
            if ends:
                self.characters -= shown + 1
                self.lines -= 1
                self._open = 0
            else:
                self._open = 0 if line.endswith("\r") else shown
            position += len(line)
        return position
