"""sys.stdout and sys.stderr of the Jupyter kernel.

Text is collected and published at most every 50 ms, always in program order with displays, results, errors and input(); what C code and
child processes write to descriptors 1 and 2 takes the same way. One iopub message per print() would overflow ZeroMQ's queue, and
with it goes the message that says the cell has ended.
"""
from __future__ import annotations

import codecs
import io
import os
import sys
import threading
import time
from typing import Any

import _xpto_host as host

from xpto.interrupts import held
from xpto.overflow import Allowance, Spill
from xpto.text import repaired

INTERVAL = 0.05
BATCH = 1 << 16


class OutStream(io.TextIOBase):
    """One of the two streams. `buffer` takes bytes, so that programs which write bytes work as well."""

    encoding = "utf-8"
    errors = "replace"
    newlines = None

    def __init__(self, console: "Console", label: str, descriptor: int) -> None:
        self._console, self.label, self._descriptor = console, label, descriptor
        self.parts: list[str] = []
        self.size = 0
        self.published = 0.0
        self.allowance = Allowance()
        self.spill: Spill | None = None
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.buffer = ByteStream(self)

    @property
    def name(self) -> str:
        return f"<{self.label}>"

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        console = self._console
        if console.forked:
            self._write_lines(text)
        elif self.spill is not None:
            self.spill.write(text)
        elif text:
            console.collect(self, text)
        return len(text)

    def flush(self) -> None:
        if self._console.forked:
            self._write_down("".join(self.parts))
            self.parts = []
        else:
            self._console.flush()

    def _write_lines(self, text: str) -> None:
        """In a forked child: whole lines in one write each time, so that the lines of several children do not mix."""
        self.parts.append(text)
        if "\n" in text:
            lines, _, rest = "".join(self.parts).rpartition("\n")
            self.parts = [rest]
            self._write_down(lines + "\n")

    def _write_down(self, text: str) -> None:
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            data = data[os.write(self._descriptor, data):]


class ByteStream(io.BufferedIOBase):
    """The stream as bytes; what is not UTF-8 is shown as a replacement character."""

    def __init__(self, stream: OutStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, data: Any) -> int:
        self._stream.write(self._decoder.decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


class Console:
    """Both streams, what they have collected, and the thread that publishes what nobody flushes."""

    def __init__(self) -> None:
        self.stdout, self.stderr = OutStream(self, "stdout", 1), OutStream(self, "stderr", 2)
        self.forked = False
        self._lock = threading.RLock()
        self._work = threading.Event()
        self._draining = False
        self._cell = 0
        self._stopped = False
        self.captures = os.environ.get("XPTO_CAPTURE_DESCRIPTORS", "1") != "0" and host.capture_descriptors()
        os.register_at_fork(after_in_child=self._in_child)

    def install(self) -> None:
        sys.stdout, sys.stderr = self.stdout, self.stderr
        threading.Thread(target=self._publish_for_ever, name="xpto-streams", daemon=True).start()

    # ------------------------------------------------------------------ collecting

    def collect(self, stream: OutStream, text: str) -> None:
        with self._lock:
            other = self.stderr if stream is self.stdout else self.stdout
            if other.parts:
                self._publish(other)
            if host.pending() and not self._draining:
                self._drain()
            if stream.spill is not None:  # the drained text used up the allowance
                stream.spill.write(text)
                return
            stream.parts.append(text)
            stream.size += len(text)
            if stream.size > BATCH or ("\n" in text and time.monotonic() - stream.published > INTERVAL):
                self._publish(stream)
            else:
                self._work.set()

    def _drain(self) -> None:
        """Takes over what arrived on the descriptors. The lock is held."""
        with held:
            self._draining = True
            try:
                for stream in (self.stdout, self.stderr):
                    data, dropped = host.take(stream.fileno())
                    if data:
                        stream.write(stream.decoder.decode(data))
                    if dropped:
                        stream.write(f"\n[{dropped:,} bytes came faster than they could be kept and are lost]\n")
            finally:
                self._draining = False

    # ------------------------------------------------------------------ publishing

    def _publish(self, stream: OutStream) -> None:
        """Sends what a stream has collected, up to the cell's allowance. The lock is held."""
        with held:
            text = "".join(stream.parts)
            stream.parts, stream.size = [], 0
            stream.published = time.monotonic()
            if not text:
                return
            shown = stream.allowance.admit(text)
            if shown < len(text):
                stream.spill = Spill(self._cell, stream.label)
                stream.spill.write(text[shown:])
                text = text[:shown] + ("" if text[:shown].endswith("\n") else "\n")
                text += f"[output limit reached; what follows goes to {stream.spill.where()}]\n"
            host.publish_stream(stream.label, repaired(text))

    def flush(self) -> None:
        """Publishes everything there is, in order."""
        with self._lock:
            if host.pending() and not self._draining:
                self._drain()
            self._publish(self.stdout)
            self._publish(self.stderr)

    def _publish_for_ever(self) -> None:
        while not self._stopped:
            self._work.wait(0.1 if self.captures else None)
            time.sleep(INTERVAL)
            self._work.clear()
            if not self._stopped:
                self.flush()

    # ------------------------------------------------------------------ cells

    def begin_cell(self, number: int) -> None:
        """A new cell has a new allowance. Text that came between cells belongs to the cell before."""
        self.flush()
        with self._lock:
            self._cell = number
            for stream in (self.stdout, self.stderr):
                if stream.spill is not None:
                    stream.spill.close()
                stream.spill, stream.allowance = None, Allowance()

    def end_cell(self) -> list[dict[str, str]]:
        """Publishes what is left; returns one note for each stream that has overflown."""
        self.flush()
        notes = []
        with self._lock:
            for stream in (self.stdout, self.stderr):
                if stream.spill is not None:
                    stream.spill.close()
                    notes.append(stream.spill.note())
        return notes

    def stop(self) -> None:
        """The last words of the process."""
        self.flush()
        self._stopped = True

    def _in_child(self) -> None:
        """A forked child must not speak to the front-end: its text goes into the parent's pipe."""
        self.forked = True
        for stream in (self.stdout, self.stderr):
            stream.parts, stream.size = [], 0  # the parent publishes what it had collected
        self._lock = threading.RLock()
