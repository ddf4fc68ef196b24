"""Splitting a magic's line: words, name=value with or without spaces around the sign, quotes, brackets."""
from __future__ import annotations


class LineError(ValueError):
    """A line that cannot be split."""


_CLOSING = {"(": ")", "[": "]", "{": "}"}


def _word(line: str, at: int, stop: str) -> tuple[str, int]:
    """The word that starts at `at`: up to a space or a character of `stop` outside quotes and brackets. Quotes around parts of it go."""
    out: list[str] = []
    open_brackets: list[str] = []
    while at < len(line):
        c = line[at]
        if c in "'\"":
            end = line.find(c, at + 1)
            if end < 0:
                raise LineError(f"the quote {c} at column {at + 1} is not closed")
            out.append(line[at + 1:end] if not open_brackets else line[at:end + 1])
            at = end + 1
            continue
        if not open_brackets and (c.isspace() or c in stop):
            break
        if c in _CLOSING:
            open_brackets.append(_CLOSING[c])
        elif open_brackets and c == open_brackets[-1]:
            open_brackets.pop()
        out.append(c)
        at += 1
    if open_brackets:
        raise LineError(f"a bracket is not closed, expected {open_brackets[-1]}")
    return "".join(out), at


def _skip_spaces(line: str, at: int) -> int:
    while at < len(line) and line[at].isspace():
        at += 1
    return at


def split_line(line: str) -> tuple[list[str], list[tuple[str, str]]]:
    """(names, options) of a line. `--name=value` is read as name=value; a lone `--name` stays a name for the caller to judge."""
    names: list[str] = []
    options: list[tuple[str, str]] = []
    at = _skip_spaces(line, 0)
    while at < len(line):
        word, at = _word(line, at, "=")
        sign = _skip_spaces(line, at)
        if sign < len(line) and line[sign] == "=":
            if not word:
                raise LineError("a value without a name before the =")
            begin = _skip_spaces(line, sign + 1)
            value, at = _word(line, begin, "")
            options.append((word.lstrip("-"), value.rstrip(",")))
        elif word.rstrip(","):
            names.append(word.rstrip(","))
        at = _skip_spaces(line, at)
    return names, options
