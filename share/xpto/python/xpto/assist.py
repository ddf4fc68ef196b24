"""Completion and help while typing, from the same rows the compiler reads. Positions count code points.

complete() answers in the line of a %%pto_ magic (options and their values), behind names of the language (`pl.ma`, `pl.system.`,
`pl.MemorySpace.`, `vf.`), and inside a call of an operation (its keywords, an enumeration's members). Anything else is IPython's.
inspect() explains the operation, enumeration, magic or option under the cursor.
"""
from __future__ import annotations

import html
import importlib
import re
from typing import Any, Iterable

from xpto import _engine

_IMPORT = re.compile(r"^\s*import\s+pypto_pro\.language\s+as\s+(\w+)", re.M)
_VF_IMPORT = re.compile(r"^\s*from\s+pypto_pro\.language\s+import\s+Vf(?:\s+as\s+(\w+))?", re.M)

_cache: dict[str, Any] = {}


def _table() -> dict[str, Any]:
    if "table" not in _cache:
        table = _engine.language_table()
        _cache["table"] = table
        _cache["enums"] = dict(table["enums"])
        _cache["names"] = sorted({*table["operations"], *table["constructs"]} | {d for d, _ in table["dtypes"]})
    return _cache["table"]


def _aliases(code: str) -> tuple[set[str], set[str]]:
    """Names that mean the language module, and names that mean its register namespace."""
    language, registers = {"pl"}, {"vf"}
    language.update(_IMPORT.findall(code))
    registers.update(name or "Vf" for name in _VF_IMPORT.findall(code))
    return language, registers


def _magic_head(code: str, cursor: int) -> tuple[str, int] | None:
    """(magic, offset of its line) when the cursor is in the line of one of our magics."""
    begin = code.rfind("\n", 0, cursor) + 1
    found = re.match(r"\s*(%%?pto_\w+)\s", code[begin:])
    return (found.group(1), begin) if found and cursor > begin + found.end() - 1 else None


def _options(magic: str) -> list[Any]:
    from xpto import magics
    name = magic.lstrip("%")
    for module_name in magics.modules():
        module = importlib.import_module(f"xpto.magics.{module_name}")
        if module_name == name or (hasattr(module, "_VIEWS") and name in module._VIEWS) or (name == "pto_profile" and module_name == "pto_run"):
            return list(getattr(module, "OPTIONS", []))
    return []


def _reply(matches: Iterable[str], start: int, end: int, kind: str) -> dict[str, Any]:
    found = list(matches)
    return {"status": "ok", "matches": found, "cursor_start": start, "cursor_end": end,
            "metadata": {"_jupyter_types_experimental": [{"start": start, "end": end, "text": m, "type": kind, "signature": ""} for m in found]}}


def _members(path: str, prefix: str) -> list[str]:
    """Names below "pl", "pl.system", "pl.MemorySpace", "vf" that begin with the prefix."""
    _table()
    enums = _cache["enums"]
    if path == "pl":
        names = {n.split(".")[0] for n in _cache["names"] if not n.startswith("vf.")} | set(enums) | set(enums["TensorLayout"]) | {
            "pipeline", "system", "simt", "jit", "kernel", "vector_function", "Tensor", "Ptr", "Tile", "TileType", "STATIC", "DYNAMIC"}
        hidden = {n for n in names if (row := _engine.operation(n)) and row["hidden_for"]}
        names -= hidden
    elif path == "vf":
        names = {n[3:] for n in _cache["names"] if n.startswith("vf.")}
    elif path == "pl.pipeline":
        names = {"stage", "PipelineConfig"}
    elif path.startswith("pl.") and path[3:] in enums:
        return [m for m in enums[path[3:]] if m.startswith(prefix)]
    else:
        stem = path.removeprefix("pl.") + "."
        names = {n[len(stem):] for n in _cache["names"] if n.startswith(stem)}
    return sorted(n for n in names if n.startswith(prefix))


def _language_path(code: str, dotted: str) -> str | None:
    """"pl.system" for a dotted name as it is written in this code, by its imports; None for other names."""
    language, registers = _aliases(code)
    head, _, rest = dotted.partition(".")
    if head in language:
        return "pl" + ("." + rest if rest else "")
    if head in registers:
        return "vf" + ("." + rest if rest else "")
    return None


def _call_around(code: str, cursor: int) -> tuple[str, str] | None:
    """(path of the operation, text of the argument being typed) when the cursor is directly inside a call of one."""
    depth, at, limit = 0, cursor - 1, max(0, cursor - 2000)
    argument_begin = None
    while at >= limit:
        c = code[at]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth == 0:
                if c != "(":
                    return None
                name = re.search(r"([A-Za-z_][\w.]*)$", code[:at])
                path = _language_path(code, name.group(1)) if name else None
                return (path, code[(argument_begin if argument_begin is not None else at + 1):cursor]) if path else None
            depth -= 1
        elif c == "," and depth == 0 and argument_begin is None:
            argument_begin = at + 1
        at -= 1
    return None


def _row(path: str) -> dict[str, Any] | None:
    return _engine.operation(path.removeprefix("pl.") if path.startswith("pl.") else path)


def complete(code: str, cursor: int) -> dict[str, Any] | None:
    head = _magic_head(code, cursor)
    if head:
        magic, begin = head
        word = re.search(r"[^\s]*$", code[begin:cursor]).group(0)
        name, sign, value = word.partition("=")
        options = _options(magic)
        if sign:
            for option in options:
                if option.name == name:
                    return _reply([c for c in option.choices() if c.startswith(value)], cursor - len(value), cursor, "value")
            return None
        found = [o.name + "=" for o in options if o.name.startswith(name)]
        return _reply(found, cursor - len(word), cursor, "option") if found or not name else None
    before = code[max(0, cursor - 400):cursor]
    dotted = re.search(r"([^\W\d]\w*(?:\.\w+)*)\.(\w*)$", before)
    if dotted:
        path = _language_path(code, dotted.group(1))
        if path is None:
            return None
        prefix = dotted.group(2)
        return _reply(_members(path, prefix), cursor - len(prefix), cursor, "instruction")
    call = _call_around(code, cursor)
    if call:
        path, argument = call
        row = _row(path)
        if row is None:
            return None
        word = argument.lstrip()
        if re.fullmatch(r"\w*", word):
            found = [k + "=" for k, _, _ in row["keywords"] if k.startswith(word)]
            return _reply(found, cursor - len(word), cursor, "keyword") if found and word else None
    return None


def _signature(row: dict[str, Any]) -> str:
    operands = [f"{name}=None" if optional else name for name, _, optional in row["operands"]]
    keywords = [f"{k}={fallback or 'None'}" if not required else k for k, fallback, required in row["keywords"]]
    name = row["name"] if row["name"].startswith("vf.") else "pl." + row["name"]
    return f"{name}({', '.join(operands + (['*'] + keywords if keywords else []))})"


_ROLES = ("", "read", "written", "read and written")


def explain(path: str) -> tuple[str, str] | None:
    """(plain text, Markdown) about a name of the language."""
    _table()
    row = _row(path)
    if row is not None:
        roles = [f"{name} {_ROLES[role]}" for name, role, _ in row["operands"] if _ROLES[role]]
        lines = [_signature(row), "", row["doc"]]
        if roles:
            lines += ["", "Operands: " + ", ".join(roles) + "."]
        if row["hidden_for"]:
            lines += ["", f"Accepted for older files; write {row['hidden_for']}."]
        return "\n".join(lines), f"```python\n{lines[0]}\n```\n" + "\n".join(lines[1:])
    name = path.removeprefix("pl.")
    if name in _cache["enums"]:
        text = f"pl.{name}: " + ", ".join(_cache["enums"][name])
        return text, text
    return None


def inspect(code: str, cursor: int, detail: int) -> dict[str, Any] | None:
    left = re.search(r"[%\w.]*$", code[:cursor]).group(0)
    right = re.match(r"\w*", code[cursor:]).group(0)
    word = left + right
    text = markdown = None
    head = _magic_head(code, cursor)
    if word.startswith("%"):
        from xpto import magics
        for module_name in magics.modules():
            module = importlib.import_module(f"xpto.magics.{module_name}")
            name = word.lstrip("%")
            if module_name == name:
                text = magics.help_text(getattr(module, name, module).__doc__ or module.__doc__, getattr(module, "OPTIONS", []))
            elif hasattr(module, "_VIEWS") and name in module._VIEWS:
                text = module._VIEWS[name][1]
        markdown = text and f"```\n{text}\n```"
    elif head:
        for option in _options(head[0]):
            if option.name == word:
                text = markdown = f"{option.name}={option.values}: {option.text}"
    else:
        path = _language_path(code, word) if word else None
        if path is None or explain(path) is None:  # inside the parentheses of a call: explain the operation
            call = _call_around(code, cursor)
            path = call[0] if call else None
        found = explain(path) if path else None
        if found:
            text, markdown = found
    if not text:
        return None
    return {"status": "ok", "found": True, "metadata": {},
            "data": {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>", "text/markdown": markdown}}
