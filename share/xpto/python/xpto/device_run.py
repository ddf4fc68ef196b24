"""A launch outside the simulator: what came of it, and by whom. No hazards, no timeline: those are the simulator's."""
from __future__ import annotations

from html import escape
from typing import Any

from xpto.device_prints import Dump, dumps_of
from xpto.results import Report, _weakly

NEVER_ON_HARDWARE = "this way to a card has been tested with a library that plays one, never on hardware"


class DeviceRun:
    """One launch on the host's compiler or a card. `wait()` ends it; text, HTML and JSON say where values come from."""

    refused = False

    def __init__(self, kernel: Any, compiled: Any, device: str, computed_by: str, arguments: dict[str, Any], notes: list[str]) -> None:
        self.kernel, self.compiled, self.device, self.computed_by = kernel, compiled, device, computed_by
        self.notes = list(notes)
        self.status = "running"
        self.printed = ""
        self.seconds = 0.0
        self.block_dim = 1
        self.headers = ""
        self.fake = False
        self.cores = 0
        self._arguments = {name: _weakly(value) for name, value in arguments.items()}
        self._finish: Any = None

    def arguments(self) -> dict[str, Any]:
        """The launch's arguments by name, as far as they still live."""
        return {name: value for name, get in self._arguments.items() if (value := get()) is not None}

    def give_back(self, worker: Any) -> bool:
        """Ends a launch whose verdict is in: the worker frees what the launch held. A crash there is a note and no failure; False: the worker is lost."""
        from xpto.errors import InternalError
        from xpto.worker import Refused, WorkerGone, WorkerSilent
        try:
            worker.ask("release")
        except (WorkerGone, WorkerSilent) as e:
            self.notes.append(f"the worker crashed after the verdict ({getattr(e, 'how', 'no answer')}): the result is complete and kept")
            return False
        except Refused as e:
            raise InternalError(f"xpto-worker: {e}") from None
        return True

    def wait(self, timeout: float | None = None) -> "DeviceRun":
        """Ends a launch that was started without waiting: outputs are in place afterwards. LaunchError when it fails or takes too long."""
        if self._finish is not None:
            self._finish(timeout)
        return self

    @property
    def verdict(self) -> str:
        what = {"done": "DONE", "running": "RUNNING", "warned": "DONE"}.get(self.status, self.status.upper())
        return f"{what}  {self.kernel.__name__} on {self.device}: computed by {self.computed_by}"

    @property
    def dumps(self) -> list[Dump]:
        """What dump_data printed, as arrays."""
        return dumps_of(self.printed)

    def text(self) -> str:
        lines = [self.verdict, f"  blocks {self.block_dim}" + (f", cores {self.cores}" if self.cores else "") + f", {self.seconds * 1e3:.1f} ms on the wall"]
        lines += [f"  note: {note}" for note in self.notes]
        lines.append("  races, hangs by order, uninitialised reads and time are the simulator's to find: device=sim")
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        return {"schema": 1, "kind": "device_run", "kernel": self.kernel.__name__, "device": self.device, "status": self.status, "refused": False,
                "computed_by": self.computed_by, "checked_by": [], "estimated": [], "block_dim": self.block_dim, "seconds": self.seconds,
                "headers": self.headers, "fake": self.fake, "notes": self.notes, "hazards": [],
                "dumps": [{"what": d.what, "dtype": d.dtype, "layout": d.layout, "shape": d.shape, "values": d.values} for d in self.dumps]}

    def view(self, name: str) -> Report:
        if name == "timeline":
            return self.timeline()
        return Report(self.text(), f"<pre>{escape(self.text())}</pre>", self.to_json())

    def timeline(self) -> Report:
        text = (f"no timeline: {self.computed_by} measures nothing per pipe; %pto_profile with device=sim predicts one"
                + (", and `xpto profile --import FOLDER` shows what the toolkit's profiler recorded" if self.device.startswith("npu") else "") + "\n")
        return Report(text, f"<pre>{escape(text)}</pre>", {"schema": 1, "kernel": self.kernel.__name__, "tasks": 0, "lanes": [], "text": text})

    def save_trace(self, path: str) -> str:
        from xpto.errors import LaunchError
        raise LaunchError(self.timeline().text().strip())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.view("run")._repr_mimebundle_()

    def __repr__(self) -> str:
        return self.text()


