"""Exceptions a user meets. A refusal renders as a few lines that name the place in the user's cell, not as a traceback."""
from __future__ import annotations

from typing import Any


class PtoError(Exception):
    """Base of everything raised on purpose. `code` is PTO-K41 or a slug; `diagnostics` are plain dicts (design 5)."""

    def __init__(self, message: str, *, diagnostics: list[dict[str, Any]] | None = None, report: Any = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []
        self.report = report

    @property
    def code(self) -> str:
        return self.diagnostics[0]["code"] if self.diagnostics else ""

    def _render_traceback_(self) -> list[str]:
        name = type(self).__name__
        return [f"\x1b[0;31m{name}\x1b[0m: {line}" if i == 0 else line for i, line in enumerate(str(self).splitlines()[:12])]


class CompileError(PtoError, ValueError, TypeError, NotImplementedError):
    """A kernel was refused. Derives from the builtins that upstream's error classes derive from."""


class LaunchError(PtoError, ValueError):
    """A launch whose arguments do not fit the kernel."""


class LaunchTypeError(PtoError, TypeError):
    """A launch argument of the wrong kind or dtype."""


class HazardError(PtoError, RuntimeError):
    """A run that would race, hang or read what was never written; `report` holds the findings. Buffers are as before."""


class OtherDialectName(PtoError, AttributeError):
    """A word of another project's language under `pl`; hasattr() still answers."""


class OtherDialectImport(PtoError, ImportError):
    """The module of another project's language."""


class LaunchWarning(UserWarning):
    """A launch that ran, with a grid that devices have been reported to stumble over."""


class InternalError(PtoError):
    """A broken promise of ours, with what is needed to reproduce it."""


def upstream_class(name: str) -> type[Exception]:
    """ParserSyntaxError and its like: names that upstream's files catch. All are CompileError here."""
    return CompileError
