"""The other end of xpto-worker: a process that runs foreign code (a card's runtime, compiled kernels), so that its crashes are not ours.

One request at a time, one reply each; the frames are described in engine/backend/frames.hpp. What the process writes to its standard
output and error belongs to the request during which it came.
"""
from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Mapping, Sequence

from xpto.errors import InternalError

Buffer = Any  # what memoryview() takes

# a call into a card's runtime that takes longer than this without an answer is said to hang
ANSWER_SECONDS = 30.0
# after an interrupt a request has this long to come to its reply; a process whose conversation was broken off is of no use
PATIENCE_SECONDS = 2.0


class WorkerGone(Exception):
    """The process ended without an answer. `how` says how: "signal 11 (SIGSEGV)", "exit code 1"."""

    def __init__(self, how: str, output: str) -> None:
        super().__init__(how)
        self.how, self.output = how, output


class WorkerSilent(Exception):
    """No answer within the time: a call of the foreign code does not return."""


class Refused(Exception):
    """The worker's reply was an error; its kinds are those of engine/backend/ascend_runtime.hpp, and hang, stopped, kernel, usage."""

    def __init__(self, kind: str, code: int, call: str, said: str) -> None:
        super().__init__(f"{kind}: {call} {code} {said}")
        self.kind, self.code, self.call, self.said = kind, code, call, said


def executable() -> str:
    """xpto-worker: beside the package in a build folder or an installation."""
    if chosen := os.environ.get("XPTO_WORKER"):
        return chosen
    package = Path(__file__).resolve().parent
    for up in (package.parents[1] / "bin", *[p / "bin" for p in package.parents[2:5]]):
        if (up / "xpto-worker").is_file():
            return str(up / "xpto-worker")
    raise InternalError(f"xpto-worker is not beside the package {package}; XPTO_WORKER can name it")


class _Interrupts:
    """An interrupt must not cut a reply in two: it is raised when the exchange is over."""

    def __init__(self) -> None:
        self.came = 0.0

    def __enter__(self) -> "_Interrupts":
        self._before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
        if self._before is not None:
            signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: Any) -> None:
        self.came = self.came or time.monotonic()

    def __exit__(self, *error: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self.came and callable(self._before):
                self._before(signal.SIGINT, None)  # whoever handles interrupts decides what they mean


class Worker:
    """A running worker. Ending it gives back everything it held."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        with theirs:
            try:
                self.process = subprocess.Popen([executable(), str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                                stdout=write, stderr=write, env={**os.environ, **(environment or {})}, start_new_session=True)
            finally:
                os.close(write)
        self._socket = ours
        self._output: list[bytes] = []
        self._arrived = threading.Condition()
        self._closed = False
        self._serial = 0
        threading.Thread(target=self._collect, args=(read,), name="xpto-worker-output", daemon=True).start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.poll() is None

    def how_it_ended(self) -> str:
        code = self.process.poll()
        if code is None:
            return "it still runs"
        if code < 0:
            try:
                return f"signal {-code} ({signal.Signals(-code).name})"
            except ValueError:
                return f"signal {-code}"
        return f"exit code {code}"

    # ------------------------------------------------------------------ requests

    def ask(self, verb: str, head: Mapping[str, Any] | None = None, blobs: Sequence[Buffer] = (), seconds: float = ANSWER_SECONDS,
            ) -> tuple[dict[str, str], list[bytes], str]:
        """One request and its reply: (head, blobs, what was printed meanwhile)."""
        with _Interrupts() as self._interrupts:
            return self._exchange(verb, head or {}, blobs, seconds)

    def _exchange(self, verb: str, head: Mapping[str, Any], blobs: Sequence[Buffer], seconds: float) -> tuple[dict[str, str], list[bytes], str]:
        self._serial += 1
        mark = f"\x1exp{self._serial}\x1e"
        text = "".join(f"{k}={_escaped(str(v))}\n" for k, v in {**head, "verb": verb, "mark": mark}.items()).encode()
        views = [memoryview(b).cast("B") for b in blobs]
        try:
            self._socket.settimeout(seconds)
            self._deadline = time.monotonic() + seconds
            self._socket.sendall(struct.pack("<II", len(text), len(views)) + struct.pack(f"<{len(views)}Q", *(v.nbytes for v in views)) + text)
            for v in views:
                self._socket.sendall(v)
            self._socket.settimeout(0.2)
            lengths = struct.unpack("<II", self._take(8))
            sizes = struct.unpack(f"<{lengths[1]}Q", self._take(8 * lengths[1]))
            reply = _parsed(self._take(lengths[0]).decode("utf-8", "replace"))
            received = [self._take(n) for n in sizes]
        except socket.timeout:  # TimeoutError from Python 3.10 on
            raise WorkerSilent(verb) from None
        except (OSError, EOFError):
            self._reap()
            raise WorkerGone(self.how_it_ended(), self._printed(None)) from None
        printed = self._printed(mark.encode())
        if "error" in reply:
            refusal = Refused(reply["error"], int(reply.get("code") or 0), reply.get("call", ""), reply.get("said", ""))
            refusal.printed = printed  # type: ignore[attr-defined]
            refusal.head = reply  # type: ignore[attr-defined]
            raise refusal
        return reply, received, printed

    def _take(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                part = self._socket.recv(min(count - len(data), 1 << 20))
            except socket.timeout:
                now, came = time.monotonic(), self._interrupts.came
                if now < self._deadline and not (came and now - came > PATIENCE_SECONDS):
                    continue
                self.kill()
                raise
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    # ------------------------------------------------------------------ output

    def _collect(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            while data := pipe.read(1 << 16):
                with self._arrived:
                    self._output.append(data)
                    self._arrived.notify_all()
        with self._arrived:
            self._closed = True
            self._arrived.notify_all()

    def _printed(self, mark: bytes | None) -> str:
        """What came up to the mark (both descriptors write it, so it comes twice); without a mark everything until the pipe closes."""
        until = time.monotonic() + 5
        with self._arrived:
            while True:
                data = b"".join(self._output)
                if mark is not None and data.count(mark) == 2:
                    break
                if self._closed or time.monotonic() >= until:
                    break
                self._arrived.wait(0.2)
            self._output = []
        if mark is not None:
            data = data.replace(mark, b"")
        return data.decode("utf-8", "replace")

    # ------------------------------------------------------------------ ending

    def _reap(self) -> None:
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends the process at once; the operating system and the driver give back what it held."""
        self._socket.close()
        if self.alive():
            self.process.kill()
        self.process.wait()

    def end(self, seconds: float = 3.0) -> str:
        """Asks it to give everything back and end; kills it when it does not. Returns how it ended when that was not in order."""
        if self.alive():
            try:
                self.ask("quit", seconds=seconds)
            except (WorkerGone, WorkerSilent, Refused):
                pass
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        self._socket.close()
        return "" if self.process.returncode == 0 else self.how_it_ended()


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _parsed(head: str) -> dict[str, str]:
    out = {}
    for line in head.split("\n"):
        key, sign, value = line.partition("=")
        if sign:
            out[key] = value.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
    return out
