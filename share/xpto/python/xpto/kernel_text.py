"""A kernel again with other constants or other slot counts: its own text, edited where that is safe, refused in words where it is not."""
from __future__ import annotations

import ast
import linecache
import re
from dataclasses import dataclass
from typing import Any, Mapping

from xpto import kernel as kernels
from xpto import sources

EVENT_IDS, LOCKS = range(16), range(32)
_ALIGNMENT = 512


class NotRewritable(ValueError):
    """An edit that could change more than was asked for."""


@dataclass(frozen=True)
class Edit:
    begin: tuple[int, int]  # line from 1, byte column from 0: as in the tree
    end: tuple[int, int]
    text: str


def text_of(kernel: kernels.OperatorKernel) -> tuple[str, str]:
    """(text, file name) of the file or cell that defines a kernel."""
    filename = kernel.__xpto_function__.__code__.co_filename
    text = "".join(linecache.getlines(filename))
    if not text:
        raise NotRewritable(f"the text of {kernel.__name__} is not known here, so only preload can be swept")
    if "<locals>" in kernel.__xpto_function__.__qualname__:
        raise NotRewritable(f"{kernel.__name__} is defined inside a function, so only preload can be swept")
    return text, filename


def variant(kernel: kernels.OperatorKernel, constants: Mapping[str, Any], slots: Mapping[str, int], memory: list[dict[str, Any]], ir: str) -> tuple[
        kernels.OperatorKernel, dict[str, Any]]:
    """The kernel with other values of module constants and other slot counts, and the namespace it lives in.

    memory  the memory map of the unchanged kernel (to_json()["memory"]): where room for a new slot is
    fails   NotRewritable
    """
    text, filename = text_of(kernel)
    tree = ast.parse(text)
    edits = [_constant(tree, name, value) for name, value in constants.items()]
    taken = _Taken(memory, ir)
    for name, count in slots.items():
        edits += _slots(tree, kernel, name, count, taken)
    changed = _applied(text, edits)
    space = _evaluated(changed, kernel, set(constants), " ".join(f"{k}={v}" for k, v in {**constants, **slots}.items()))
    made = space.get(kernel.__xpto_function__.__name__)
    if not isinstance(made, kernels.OperatorKernel):
        raise NotRewritable(f"{kernel.__name__} is not defined at the top level of {filename}")
    made.overrides = dict(kernel.overrides)
    return made, space


def _constant(tree: ast.Module, name: str, value: Any) -> Edit:
    found: list[ast.expr] = []
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    found.append(statement.value)
                if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple) and len(target.elts) == len(statement.value.elts):
                    found += [v for t, v in zip(target.elts, statement.value.elts) if isinstance(t, ast.Name) and t.id == name]
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.target.id == name and statement.value:
            found.append(statement.value)
    if len(found) != 1:
        why = "is not assigned" if not found else f"is assigned {len(found)} times"
        raise NotRewritable(f"{name} {why} at the top level of the text that defines the kernel")
    if not _is_number(found[0]):
        raise NotRewritable(f"{name} = {ast.unparse(found[0])} is computed; sweep what it is computed from")
    return _replace(found[0], repr(value))


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _replace(node: ast.expr, text: str) -> Edit:
    return Edit((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0), text)


class _Taken:
    """Bytes, locks and event ids in use; what is handed out is in use from then on."""

    def __init__(self, memory: list[dict[str, Any]], ir: str) -> None:
        self.tiles = {t["name"]: (m, t) for m in memory for t in m["tiles"]}
        self.bytes = {m["memory"]: [(a, a + t["slot_bytes"]) for t in m["tiles"] for a in t["addresses"]] for m in memory}
        tiles = [t for m in memory for t in m["tiles"]]
        self.locks = {i for t in tiles for ids in t["mutex_ids"] for i in ids}
        self.events = {i for t in tiles for i in (*t["fwd_ids"], *t["bwd_ids"])} | {int(i) for i in re.findall(r"event_id=(\d+)", ir)}

    def address(self, name: str) -> int:
        m, tile = self.tiles[name]
        size, busy = tile["slot_bytes"], self.bytes[m["memory"]]
        starts = sorted({tile["addresses"][-1] + size, 0, *(-(-end // _ALIGNMENT) * _ALIGNMENT for _, end in busy)}, key=lambda a: (a != tile["addresses"][-1] + size, a))
        for at in starts:
            if at + size <= m["capacity"] and all(at + size <= b or e <= at for b, e in busy):
                busy.append((at, at + size))
                return at
        raise NotRewritable(f"{name}: {m['memory']} has no {size} bytes left for another slot")

    def id(self, kind: str, name: str) -> int:
        used, all_ids = (self.locks, LOCKS) if kind == "mutex_ids" else (self.events, EVENT_IDS)
        free = next((i for i in all_ids if i not in used), None)
        if free is None:
            raise NotRewritable(f"{name}: no {'lock' if kind == 'mutex_ids' else 'event id'} is left of {len(all_ids)} for another slot")
        used.add(free)
        return free


def _slots(tree: ast.Module, kernel: kernels.OperatorKernel, name: str, count: int, taken: _Taken) -> list[Edit]:
    function = next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == kernel.__xpto_function__.__name__), None)
    calls = [s.value for s in ast.walk(function or tree) if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
             and s.targets[0].id == name and isinstance(s.value, ast.Call) and ast.unparse(s.value.func).endswith("make_tile_group")]
    if len(calls) != 1 or name not in taken.tiles:
        known = ", ".join(n for n, (_, t) in taken.tiles.items() if len(t["addresses"]) > 1)
        raise NotRewritable(f"{name} is not one tile group of {kernel.__name__}; groups with slots: {known}")
    given = {k.arg: k.value for k in calls[0].keywords}
    addresses = list(taken.tiles[name][1]["addresses"])
    have, edits = len(addresses), []
    if count == have:
        return []
    if "addrs" not in given or not (_is_number(given["addrs"]) or _numbers(given["addrs"]) is not None):
        raise NotRewritable(f"{name}: addrs= is computed, so its slots are not rewritten")
    addresses = addresses[:count] + [taken.address(name) for _ in range(count - have)]
    edits.append(_replace(given["addrs"], "[" + ", ".join(hex(a) for a in addresses) + "]"))
    for kind in ("mutex_ids", "fwd_ids", "bwd_ids"):
        if kind not in given:
            continue
        ids = _numbers(given[kind])
        if ids is None:
            raise NotRewritable(f"{name}: {kind}= is computed, so its slots are not rewritten")
        if len(ids) == 1 and have > 1:
            continue  # one id for all slots
        if len(ids) != have:
            raise NotRewritable(f"{name}: {kind}= has {len(ids)} ids for {have} slots, so its slots are not rewritten")
        edits.append(_replace(given[kind], str(ids[:count] + [taken.id(kind, name) for _ in range(count - have)])))
    return edits


def _numbers(node: ast.expr) -> list[int] | None:
    if isinstance(node, (ast.List, ast.Tuple)) and all(isinstance(e, ast.Constant) and type(e.value) is int for e in node.elts):
        return [e.value for e in node.elts]  # type: ignore[attr-defined]
    return None


def _applied(text: str, edits: list[Edit]) -> str:
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for e in sorted(edits, key=lambda e: e.begin, reverse=True):
        (first, begin), (last, end) = e.begin, e.end
        lines[first - 1:last] = [lines[first - 1][:begin] + e.text.encode() + lines[last - 1][end:]]
    return b"".join(lines).decode()


def _runs_again(statement: ast.stmt, changed: set[str], space: Mapping[str, Any]) -> bool:
    """Definitions run again, and assignments that use what has changed; launches, prints and the user's data do not."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return True
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return False  # the namespace has them
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    used = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
    if names & changed or used & changed or not names <= set(space):
        changed |= names
        return True
    return False


def _evaluated(text: str, kernel: kernels.OperatorKernel, changed: set[str], words: str) -> dict[str, Any]:
    """Runs the definitions of a text over a copy of the kernel's namespace."""
    function = kernel.__xpto_function__
    filename = sources.register(text, f"{kernel.__name__} {words}".strip())
    space: dict[str, Any] = {**function.__globals__, "__name__": f"xpto_variant_of_{kernel.__name__}"}
    before = len(kernels.created)
    tree = ast.parse(text)
    try:
        for statement in tree.body:
            if not _runs_again(statement, changed, space):
                continue
            try:
                exec(compile(ast.Module([statement], []), filename, "exec", flags=function.__code__.co_flags & 0x1000000, dont_inherit=True), space)
            except Exception as e:
                if isinstance(statement, ast.FunctionDef) and statement.name == function.__name__:
                    raise NotRewritable(f"{type(e).__name__}: {e}") from None
    finally:
        del kernels.created[before:]
    return space
