"""What the functions and magics return: objects with a rich display, a text that says everything, and .to_json()."""
from __future__ import annotations

import json
import weakref
from typing import Any, Callable

from xpto import artefacts, config
from xpto.errors import CompileError


class Report:
    """Text, HTML and JSON of one value of the engine. `text()` is the whole story; the picture only adds to it."""

    def __init__(self, text: str, html: str, data: dict[str, Any]) -> None:
        self._text, self._html, self._data = text, html, data

    def text(self) -> str:
        return self._text

    def to_json(self) -> dict[str, Any]:
        return self._data

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self._text, "text/html": self._html}

    def __repr__(self) -> str:
        return self._text


def _weakly(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


class Compilation:
    """One compiled variant of a kernel: its verdict, its plan, its generated text and everything views are drawn from."""

    def __init__(self, kernel: Any, native: Any, previous: "Compilation | None" = None) -> None:
        self.kernel, self.native = kernel, native
        self._since = native.changes_since(previous.native) if previous is not None else ""

    @property
    def ok(self) -> bool:
        return self.native.ok

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        return self.to_json()["diagnostics"]

    @property
    def generated(self) -> str:
        """pipeline_generated.py; empty for kernels without stages."""
        return self.native.generated

    def stale(self) -> str:
        """What a constant was and is now, when one this compilation used has changed; empty otherwise."""
        return self.native.stale()

    def view(self, name: str) -> Report:
        """One view: panel, sync, memory, code, diff, cpp, timeline."""
        text, html, data = self.native.view(name, config.values["lang"], self._since)
        return Report(text, html, json.loads(data) if data else {})

    def text(self) -> str:
        return self.view("panel").text()

    def to_json(self) -> dict[str, Any]:
        return json.loads(self.native.to_json())

    def error(self) -> CompileError:
        return CompileError(self.native.refusal(config.values["lang"]), diagnostics=self.diagnostics, report=self)

    def save(self, folder: str) -> dict[str, str]:
        """Writes the artefacts into a folder and returns their paths."""
        from pathlib import Path
        return artefacts.contents(self, Path(folder))

    @property
    def folder(self) -> str:
        """The variant's folder in the cache: source, generated texts, C++, headers, command lines, report, side by side."""
        return str(artefacts.folder(self))

    def artefacts(self) -> dict[str, str]:
        """Paths of what is in `folder`, and of libraries that were compiled from it, by name."""
        return artefacts.listing(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.view("panel")._repr_mimebundle_()

    def __repr__(self) -> str:
        return self.text()


class Run:
    """One completed or refused launch: where it was computed, what was found, what it cost in the model."""

    def __init__(self, kernel: Any, compiled: Compilation, native: Any, arguments: dict[str, Any] | None = None) -> None:
        self.kernel, self.compiled, self.native = kernel, compiled, native
        # weak: a result must not keep the user's data alive
        self._arguments = {name: _weakly(value) for name, value in (arguments or {}).items()}

    def arguments(self) -> dict[str, Any]:
        """The launch's arguments by name, as far as they still live; arrays may hold other values by now."""
        return {name: value for name, get in self._arguments.items() if (value := get()) is not None}

    @property
    def status(self) -> str:
        """done, warned, race, hang, uninitialised, out-of-range, interrupted ..."""
        return self.native.status

    @property
    def refused(self) -> bool:
        """True when the buffers were left as they were before the launch."""
        return self.native.refused

    @property
    def verdict(self) -> str:
        return self.native.verdict

    @property
    def printed(self) -> str:
        """What printf, dump_data and pto_assert wrote, ordered by block, core and sequence."""
        return self.native.printed

    def text(self) -> str:
        return self.view("run").text()

    def view(self, name: str) -> Report:
        """run (verdict and findings), timeline (stages, waits, critical path)."""
        text, html, data = self.native.view(name, config.values["lang"])
        return Report(text, html, json.loads(data) if data else {})

    def timeline(self) -> Report:
        return self.view("timeline")

    def to_json(self) -> dict[str, Any]:
        return json.loads(self.native.to_json())

    def save_trace(self, path: str) -> str:
        """Writes a Chrome trace (open it in a trace viewer) and returns the path."""
        self.native.save_trace(path)
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.view("run")._repr_mimebundle_()

    def __repr__(self) -> str:
        return self.text()
