"""The magics: one file each. A file has `register(shell)` and reads its line through parse_line(), so that all share one manner:

    name=value, name = value, name="a b", name=[1, 2]     options, in any order, among the names
    --help                                                 prints the documentation and the options
    an unknown option is refused with the nearest known one

The conventions of IPython hold: a UsageError is one red line without a traceback, a returned object is displayed and lands in Out.
"""
from __future__ import annotations

import importlib
import pkgutil
import sys
from dataclasses import dataclass
from typing import Any, Sequence

from xpto.magics._line import LineError, split_line

try:
    from IPython.core.error import UsageError
except ImportError:  # scripts run without IPython

    class UsageError(Exception):  # type: ignore[no-redef]
        """Wrong use of a magic."""


@dataclass(frozen=True)
class Option:
    """One option of a magic, for parsing, --help and completion."""
    name: str
    values: str  # what may stand behind the =, for people: "int", "strict, warn"
    text: str

    def choices(self) -> list[str]:
        """The values to offer while typing; empty when `values` only describes them."""
        words = [w.strip() for w in self.values.split(",")]
        return [w for w in words if w.isidentifier() and w not in ("int", "float", "name", "str", "path")]


def parse_line(magic: str, line: str, options: Sequence[Option], documentation: str | None) -> tuple[list[str] | None, dict[str, str] | None]:
    """Splits a magic's line into names and options. (None, None) after --help, which has been printed.

    Raises UsageError for an unknown option, an option given twice or without a value, and unbalanced quotes or brackets.
    """
    try:
        names, values = split_line(line)
    except LineError as e:
        raise UsageError(f"{magic}: {e}") from None
    if any(n in ("--help", "-h", "help", "?") for n in names):
        print(help_text(documentation, options))
        return None, None
    known = {o.name for o in options}
    for name in names:
        if name.startswith("-"):
            raise UsageError(_unknown(magic, name.lstrip("-"), known, name))
    given: dict[str, str] = {}
    for name, value in values:
        if name not in known:
            raise UsageError(_unknown(magic, name, known, name))
        if name in given:
            raise UsageError(f"{magic}: {name} is given twice, {given[name]!r} and {value!r}")
        if value == "":
            raise UsageError(f"{magic}: {name} needs a value: {next(o.values for o in options if o.name == name)}")
        given[name] = value
    return names, given


def help_text(documentation: str | None, options: Sequence[Option]) -> str:
    from inspect import cleandoc
    lines = [cleandoc(documentation or "").rstrip()]
    if options:
        left = {o.name: f"{o.name}={o.values.replace(', ', '|')}" if o.values else f"{o.name}=" for o in options}
        width = max(len(t) for t in left.values() if len(t) <= 32) if any(len(t) <= 32 for t in left.values()) else 32
        lines += ["", "Options:"] + [f"  {left[o.name]:<{width}}  {o.text}" for o in options]
    return "\n".join(lines).strip("\n")


def _unknown(magic: str, name: str, known: set[str], shown: str) -> str:
    import difflib
    if not known:
        return f"{magic} has no options, got {shown}"
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{magic}: unknown option {shown}{hint} Known: {', '.join(sorted(known))}" if near else \
        f"{magic}: unknown option {shown}. Known: {', '.join(sorted(known))}"


def modules() -> list[str]:
    """Names of the files that hold magics."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def register_all(shell: Any) -> None:
    """Registers every magic. One that fails costs itself and one line, never the session."""
    failed: dict[str, list[str]] = {}
    for name in modules():
        try:
            importlib.import_module(f"{__name__}.{name}").register(shell)
        except Exception as e:
            failed.setdefault(f"{type(e).__name__}: {e}", []).append(name)
    for reason, names in failed.items():
        print(f"xpto: not available in this session: {', '.join(names)} ({reason.splitlines()[0]})", file=sys.stderr)
