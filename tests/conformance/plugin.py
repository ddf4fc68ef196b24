"""A pytest plugin that runs an external checkout's system tests on the simulator, unmodified.

Everything that names a device is neutralised from outside (torch_device.py). What strict mode refuses for a race is launched again in
warn mode, so that there are values to compare; what was found decides the class all the same (run.py). Refusals are noted with the
`pytest.raises` block they were expected in.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
import weakref
from pathlib import Path
from typing import Any

import pytest
from _pytest import python_api

from xpto import config
from xpto import kernel as kernels
from xpto.errors import CompileError, HazardError, PtoError

import torch_device

# Launches may happen in a child process of the test: each appends a line. run.py reads it when a file takes too long.
_log = Path(os.environ.get("XPTO_CONFORMANCE_NOTES") or tempfile.mkstemp(prefix="conformance-", suffix=".jsonl")[1])
_launch = kernels.OperatorKernel.launch
_raises_exit = python_api.RaisesContext.__exit__


def _note(**row: Any) -> None:
    with open(_log, "a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:300]


def _findings(run: Any) -> list[dict[str, Any]]:
    """Findings of severity error, each with its line in the test's file."""
    found = []
    for h in run.to_json().get("hazards") or []:
        if h["severity"] == "error":
            found.append({"kind": h["kind"], "message": h["message"], "lines": [(h.get(end) or {}).get("line") for end in ("first", "second")]})
    return found


# What the proof refuses, as opposed to a rule of the language.
PROOF = {"PTO-race", "PTO-hang", "PTO-counter-overflow", "PTO-counter-left", "PTO-flag-twice", "PTO-lock-pairs"}


def _only_proof(error: CompileError) -> bool:
    codes = {d["code"] for d in error.diagnostics if d.get("severity") == "error"}
    return bool(codes) and codes <= PROOF


@contextlib.contextmanager
def _warn_mode() -> Any:
    before, config.values["check"] = config.values["check"], "warn"
    try:
        yield
    finally:
        config.values["check"] = before


# Kernels that strict mode has refused for a race: launched in warn mode from then on, which finds the same and keeps the values.
_raced: "weakref.WeakSet[Any]" = weakref.WeakSet()


def _counted(self: Any, *args: Any, **kwargs: Any) -> Any:
    begin = time.perf_counter()
    findings: list[dict[str, Any]] = []
    try:
        if self in _raced:
            with _warn_mode():
                run = _launch(self, *args, **kwargs)
            _note(what="done", findings=_findings(run), seconds=time.perf_counter() - begin)
            return run
        try:
            run = _launch(self, *args, **kwargs)
        except PtoError as strict:
            raced = isinstance(strict, HazardError) and strict.report.status == "race"
            if not raced and not (isinstance(strict, CompileError) and _only_proof(strict)):
                raise
            if raced:
                _raced.add(self)
            findings = _findings(strict.report) if raced else [{"kind": strict.code, "message": _first_line(strict), "lines": []}]
            with _warn_mode():
                run = _launch(self, *args, **kwargs)
    except PtoError as e:
        _note(what="refused", kind=type(e).__name__, status=getattr(e.report, "status", ""), why=_first_line(e), code=e.code,
              seconds=time.perf_counter() - begin)
        raise
    _note(what="done", findings=_findings(run) or findings, seconds=time.perf_counter() - begin)
    return run


def _noted_exit(self: Any, kind: Any, value: Any, trace: Any) -> bool:
    if isinstance(value, PtoError):
        pattern = getattr(self, "match_expr", None)
        same = pattern is None or re.search(pattern, str(value)) is not None
        _note(what="expected" if same and issubclass(kind, self.expected_exception) else "other words", why=_first_line(value),
              pattern=str(pattern or ""))
    return _raises_exit(self, kind, value, trace)


kernels.OperatorKernel.launch = _counted
python_api.RaisesContext.__exit__ = _noted_exit


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soc(name): hardware generation")
    try:
        config._xpto_mode = torch_device.install()
    except ImportError:
        config._xpto_mode = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    _log.write_text("")
    mode = item.config._xpto_mode
    with mode() if mode else contextlib.nullcontext():
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Any:
    outcome = yield
    report = outcome.get_result()
    target = os.environ.get("XPTO_CONFORMANCE_LOG")
    if not target or (report.when != "call" and report.outcome == "passed"):
        return
    notes = [json.loads(line) for line in _log.read_text(encoding="utf-8").splitlines()]
    done = [n for n in notes if n["what"] == "done"]
    row = {"test": item.nodeid, "when": report.when, "outcome": report.outcome, "launches": len(done),
           "refused": [n for n in notes if n["what"] == "refused"][:4],
           "expected": [n for n in notes if n["what"] in ("expected", "other words")][:4],
           "hazards": [h for n in done for h in n["findings"]][:12],
           "launch_seconds": round(sum(n.get("seconds", 0) for n in notes), 3), "seconds": round(report.duration, 3), "why": "", "exception": ""}
    if call.excinfo is not None:
        row["exception"] = call.excinfo.typename
        row["why"] = f"{call.excinfo.typename}: {call.excinfo.value}"[:600]
    with open(target, "a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")


def pytest_unconfigure() -> None:
    _log.unlink(missing_ok=True)
