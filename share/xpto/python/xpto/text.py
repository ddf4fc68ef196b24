"""Text that any message can carry."""
from __future__ import annotations


def repaired(text: str) -> str:
    """The text without lone surrogates, which UTF-8 has no place for."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
