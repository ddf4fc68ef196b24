"""Changes to a generated kernel that aim at one rule each: what comes out must be refused with that rule, or be right.

A change works on the text, whose lines are known: stage `s<loop>_<k>`, channel `c<loop>_<k>`, loop variable `i<loop>`. None: this kernel
has no place for it.
"""
from __future__ import annotations

import random
import re
from typing import Callable

from generate import Fuzz, generate

Lines = list[str]
Change = Callable[[Fuzz, Lines, random.Random], "Lines | None"]
CHANGES: list[tuple[str, Change, dict[str, int]]] = []  # rules aimed at, how, what the kernel must be like (for generate)


def toward(rules: str, **shape: int) -> Callable[[Change], Change]:
    def add(change: Change) -> Change:
        CHANGES.append((rules, change, shape))
        return change
    return add


def _at(lines: Lines, pattern: str) -> int:
    for k, line in enumerate(lines):
        if re.search(pattern, line):
            return k
    raise LookupError(pattern)


def _indent(line: str) -> str:
    return line[:len(line) - len(line.lstrip())]


def _loop(lines: Lines, n: int = 0) -> int:
    return _at(lines, rf"^\s+for i{n} in ")


def _call(lines: Lines, stage: str) -> int:
    return _at(lines, rf"^\s+{stage}\(")


def _body(lines: Lines, stage: str) -> int:
    return _at(lines, rf"^def {stage}\(") + 1


def _sub(lines: Lines, k: int, pattern: str, new: str) -> Lines:
    changed = re.sub(pattern, new, lines[k])
    if changed == lines[k]:
        raise LookupError(pattern)
    return lines[:k] + [changed] + lines[k + 1:]


def _insert(lines: Lines, k: int, *new: str) -> Lines:
    return lines[:k] + list(new) + lines[k:]


def _last(fuzz: Fuzz, n: int = 0) -> str:
    return fuzz.loops[n].stages[-1].name


def _kernel_start(lines: Lines) -> int:
    return _at(lines, r"^    with pl.section_cube\(\):")


def _block(lines: Lines, k: int) -> int:
    """First line behind the block that line k opens."""
    indent = len(_indent(lines[k]))
    end = k + 1
    while end < len(lines) and (not lines[end].strip() or len(_indent(lines[end])) > indent):
        end += 1
    return end


def _decl(lines: Lines, channel: str) -> int:
    return _at(lines, rf"^    {channel} = pl.make_tile_group")


def _two(fuzz: Fuzz) -> tuple[str, str]:
    return fuzz.loops[0].stages[0].name, fuzz.loops[0].stages[1].name


@toward("K1")
def _(f, l, r):
    k = _call(l, _two(f)[1]) - 1
    pad = _indent(l[k])
    return l[:k] + [f"{pad}if i0 > {r.randrange(3)}:", "    " + l[k], "    " + l[k + 1]] + l[k + 2:]


@toward("K2")
def _(f, l, r):
    k, other = _call(l, _two(f)[0]), _call(l, _two(f)[1])
    return _insert(l, k + 1, l[other])


@toward("K3")
def _(f, l, r):
    k = _call(l, r.choice(f.loops[0].stages).name)
    return _insert(l, k + r.randrange(2), _indent(l[k]) + "extra = i0 + 1")


@toward("K4")
def _(f, l, r):
    k = _call(l, r.choice(f.loops[0].stages).name) - 1
    return _sub(l, k, r"pl\.section_\w+\(\)", "pl.section_other()")


@toward("K5")
def _(f, l, r):
    k = 0
    for n in range(len(f.loops)):
        k = _loop(l, n)
        l = l[:k + 1] + [_indent(l[k]) + "    idle = i%d" % n] + l[_block(l, k):]
    return l


@toward("K6")
def _(f, l, r):
    return _sub(l, _loop(l), r"for i0 in", "for i0, j0 in")


@toward("K7")
def _(f, l, r):
    return _sub(l, _loop(l), r"in pl\.range\(.*\):", "in tasks:")


@toward("K8")
def _(f, l, r):
    stage = r.choice(f.loops[0].stages).name
    l = _insert(l, _kernel_start(l), '    many = pl.struct_array(2, "Many", k=0)')
    l = _sub(l, _call(l, stage), r"\)$", ", many)")
    return _sub(l, _at(l, rf"^def {stage}\("), r"\):$", ", many):")


@toward("K9")
def _(f, l, r):
    stage = r.choice(f.loops[0].stages).name
    l = _sub(l, _call(l, stage), r"\)$", ", info)")
    l = _sub(l, _at(l, rf"^def {stage}\("), r"\):$", ", info):")
    k = _loop(l)
    return _insert(l, k + 1, _indent(l[k]) + '    info = pl.struct("Info", k=0)')


@toward("K10")
def _(f, l, r):
    return [re.sub(r"preload=2", f"preload={[1] * (len(f.loops) + r.choice((1, 2)))}", line) for line in l]


@toward("K11", loops=2)
def _(f, l, r):
    if len(f.loops) < 2:
        return None
    first = _at(l, r"^    for [oi]0 in ")
    second = _at(l, r"^    for [oi]1 in ")
    end = _block(l, second)
    return l[:first] + ["    for both in pl.range(1):"] + ["    " + x for x in l[first:end]] + l[end:]


@toward("K12")
def _(f, l, r):
    k = _body(l, r.choice(f.loops[0].stages).name)
    end = k
    while l[end].strip():
        end += 1
    return _insert(l, end, "    return row")


@toward("K13")
def _(f, l, r):
    k = _call(l, r.choice(f.loops[0].stages).name)
    return l[:k - 1] + [l[k][4:]] + l[k + 1:]


@toward("K14", stages=4)
def _(f, l, r):
    if len(f.loops[0].stages) % 2:
        return None
    a = _call(l, _two(f)[0])
    k = _call(l, _last(f)) + 1
    return _insert(l, k, l[a - 1], l[a])


@toward("K15")
def _(f, l, r):
    k = _call(l, _last(f)) - 1
    return _sub(l, k, r"section_\w+", "section_vector" if "cube" in l[k] else "section_cube")


@toward("K16")
def _(f, l, r):
    k = _call(l, _two(f)[0]) + 1
    return _insert(l, k, _indent(l[k]) + "between = i0 + 1")


@toward("K17")
def _(f, l, r):
    return _sub(l, _loop(l), r"pl\.range\(.*\):", r.choice(("pl.range(8, 0, -1):", "pl.range(0, 8, 0):")))


@toward("K18")
def _(f, l, r):
    a, b = _two(f)
    call = l[_call(l, a)].strip()
    args = re.search(rf"^def {a}\((.*)\):", l[_at(l, rf"^def {a}\(")])[1]
    return _insert(l, _body(l, b), f"    {a}({args})") if call else None


@toward("K19")
def _(f, l, r):
    k = _decl(l, "c0_0")
    l = _sub(l, k, r"type=\w+", "type=space_of(half)")
    return _insert(l, _at(l, r"^@pl.pipeline.stage"), "def space_of(t):", "    return t", "", "")


@toward("K20")
def _(f, l, r):
    return _sub(l, _decl(l, "c0_0"), r"fwd_ids=(\[[^]]*\])", r"fwd_ids=\1[:2]")


@toward("K21")
def _(f, l, r):
    return _sub(l, _decl(l, "c0_0"), r"fwd_ids=\[[^]]*\]", f"fwd_ids=[{r.choice(('16', '', '-1', '0, 99'))}]")


@toward("K22")
def _(f, l, r):
    ch = f.loops[0].channels[0]
    extra = re.sub(r", (f|b)wd_ids=\[[^]]*\]", "", l[_decl(l, "c0_0")]).replace("c0_0", "over")
    extra = re.sub(r"mutex_ids=\[[^]]*\]", f"mutex_ids={(ch.mutex + [29, 30, 31])[:len(ch.mutex) + 1]}", extra)
    return _insert(l, _decl(l, "c0_0") + 1, extra)


@toward("K23")
def _(f, l, r):
    extra = re.sub(r", (f|b)wd_ids=\[[^]]*\]", "", l[_decl(l, "c0_0")])
    return _insert(l, _decl(l, "c0_0") + 1, extra.replace("c0_0", "over1"), extra.replace("c0_0", "over2"))


def _outer_pick(f: Fuzz, l: Lines, *picks: str, depth: str = "mutex_ids=[29, 30]") -> "Lines | None":
    """A slot of a new group taken between the outer loop and loop 0, and handed to a stage."""
    cube = next((s for s in f.loops[0].stages if s.cube), None)
    if f.loops[0].outer is None or cube is None:
        return None
    l = _sub(l, _call(l, cube.name), r"\)$", ", picked)")
    l = _sub(l, _at(l, rf"^def {cube.name}\("), r"\):$", ", picked):")
    k = _loop(l)
    pad = _indent(l[k])
    l = _insert(l, k, f"{pad}with pl.section_cube():", *[f"{pad}    {p}" for p in picks], f"{pad}    pl.load(picked, x, [0, 0])")
    return _insert(l, _kernel_start(l), f"    picks = pl.make_tile_group(type=mat, addrs=0x60000, {depth})")


@toward("K24", outer=1)
def _(f, l, r):
    l = _outer_pick(f, l, "picked = same(picks.next())")
    return l and _insert(l, _at(l, r"^@pl.pipeline.stage"), "def same(t):", "    return t", "", "")


@toward("K25", outer=1)
def _(f, l, r):
    return _outer_pick(f, l, "picked = picks.next()", "picked = picks.next()")


@toward("K26", outer=1)
def _(f, l, r):
    return _outer_pick(f, l, "picked = picks.next()", depth="depth=n0")


@toward("K27")
def _(f, l, r):
    k = _body(l, f.loops[0].stages[1].name)
    end = k
    while l[end].strip():
        end += 1
    use = next(i for i in range(k, end) if re.search(r"\(\w+, a[,)]", l[i]))
    pick = next(i for i in range(k, end) if l[i].strip() == "a = src.next()")
    l = _sub(l, use, r"\((\w+), a([,)])", r"(\1, src.next()\2")
    return l[:pick] + l[pick + 1:]


@toward("K28")
def _(f, l, r):
    k = _at(l, r"^    a = src.next\(\)")
    return _insert(_sub(l, k, r"src.next\(\)", "slot_of(src)"), _at(l, r"^@pl.pipeline.stage"), "def slot_of(g):", "    return g.next()", "", "")


@toward("K29")
def _(f, l, r):
    k = _body(l, f.loops[0].stages[1].name)
    return _insert(_insert(l, k, "    make()"), _at(l, r"^@pl.pipeline.stage"), "def make():",
                   "    g = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec), addrs=0x30000, mutex_ids=[31])", "", "")


@toward("K30")
def _(f, l, r):
    k = _at(l, r"^    a = src.next\(\)")
    return _insert(l, k + 1, "    pl.transmogrify(a, row)")


@toward("K31")
def _(f, l, r):
    k = _at(l, r"^    d = dst.next\(\)")
    return _insert(l, k + 1, "    pl.move(d, row)")


@toward("K32")
def _(f, l, r):
    k = _at(l, r"^    a = src.next\(\)")
    return _insert(_insert(l, k + 1, "    odd(a)"), _at(l, r"^@pl.pipeline.stage"), "@pl.vector_function", "def odd(t):", "    vf.transmogrify(t)", "", "")


@toward("K33")
def _(f, l, r):
    k = _loop(l)
    return _insert(l, k + 1, _indent(l[k]) + "    loose = c0_0.next()")


@toward("K34")
def _(f, l, r):
    if not f.loops[0].channels[0].to_vector:
        return None
    k = _call(l, _last(f)) + 1
    pad = _indent(l[_call(l, _last(f)) - 1])
    l = _insert(l, k, f"{pad}with pl.section_vector():", f"{pad}    pl.store(y, loose, [0, 0])")
    return _insert(l, _kernel_start(l), "    loose = c0_0.current()")


@toward("K35")
def _(f, l, r):
    return _insert(l, _decl(l, "c0_0"), "    unused = pl.make_tile_group(type=half, addrs=0x38000, mutex_ids=[31], fwd_ids=[0], bwd_ids=[0])")


@toward("K36")
def _(f, l, r):
    return _insert(l, _kernel_start(l), "    _pl_task_id = 7")


@toward("K38", stages=5)
def _(f, l, r):
    stages = f.loops[0].stages
    if len(stages) < 4 or len(f.loops[0].channels) < 3:
        return None
    # the last consumer takes from the first channel of its kind instead of its own
    source = next(c for c in f.loops[0].channels if c.to_vector == f.loops[0].channels[-1].to_vector)
    if source is f.loops[0].channels[-1]:
        return None
    return _sub(l, _call(l, stages[-1].name), f.loops[0].channels[-1].name, source.name)


@toward("K39")
def _(f, l, r):
    ch = f.loops[0].channels[0]
    return _sub(l, _decl(l, "c0_0"), r"fwd_ids=\[[^]]*\]", "fwd_ids=[0, 1]" if ch.slots != 2 else "fwd_ids=[0, 1, 15]")


def _respell(f: Fuzz, l: Lines, slots: int, fwd: "Callable[[int], list[int]]", bwd: "Callable[[int], list[int]]") -> Lines:
    """Declares the channels of loop 0 anew, above everything else: equal slots, chosen ids."""
    for k, ch in enumerate(f.loops[0].channels):
        address = 0x20000 + k * 0x1000 if ch.to_vector else 0x50000 + k * 0x2000
        mutex = [(4 * k + j) % 28 for j in range(slots)]
        l = _sub(l, _decl(l, ch.name), r"addrs=.*", f"addrs={address:#x}, mutex_ids={mutex}, fwd_ids={fwd(k)}, bwd_ids={bwd(k)})")
    return l


def _share(f: Fuzz, l: Lines, first: int = 0, apart: int = 2, mutex: bool = True) -> "Lines | None":
    """Channel first + apart lies where channel first lies."""
    channels = f.loops[0].channels
    if first + apart >= len(channels):
        return None
    x, y = _decl(l, channels[first].name), _decl(l, channels[first + apart].name)
    l = _sub(l, y, r"addrs=0x[0-9a-f]+", re.search(r"addrs=0x[0-9a-f]+", l[x])[0])
    return _sub(l, y, r"mutex_ids=\[[^]]*\]", re.search(r"mutex_ids=\[[^]]*\]", l[x])[0]) if mutex else l


@toward("K40", stages=4)
def _(f, l, r):
    return _share(f, _respell(f, l, 2, lambda k: [k], lambda k: [k]), mutex=False)


@toward("K41")
def _(f, l, r):
    ch = r.choice(f.loops[0].channels)
    k = _decl(l, ch.name)
    l = _sub(l, k, r"mutex_ids=\[(\d+)[^]]*\]", r"mutex_ids=[\1]")
    return l[:k] + [re.sub(r"(f|b)wd_ids=\[(\d+)[^]]*\]", r"\1wd_ids=[\2]", l[k])] + l[k + 1:]


@toward("K42", stages=7)
def _(f, l, r):
    # the later pair runs a whole number of rotations behind the earlier one: both meet on one slot in one beat
    return _share(f, _respell(f, l, r.choice((2, 3)), lambda k: [k], lambda k: [k + 8]), r.randrange(2), 4)


@toward("K43 K45 K46 K47 K42")
def _(f, l, r):
    return _share(f, _respell(f, l, r.choice((1, 2, 3, 4)), lambda k: [k], lambda k: [k + 8]), r.randrange(3), r.choice((2, 4)))


@toward("K43", stages=3)
def _(f, l, r):
    # the local tile of both vector stages lies on the channel between them
    if not f.loops[0].stages[1].cube:
        return None
    l = _respell(f, l, 2, lambda k: [k], lambda k: [k + 8])
    channel, local = l[_decl(l, f.loops[0].channels[1].name)], _at(l, r"^    work = ")
    l = _sub(l, local, r"addrs=0x[0-9a-f]+", re.search(r"addrs=0x[0-9a-f]+", channel)[0])
    return _sub(l, local, r"mutex_ids=\[[^]]*\]", re.search(r"mutex_ids=\[[^]]*\]", channel)[0])


@toward("K45", stages=2)
def _(f, l, r):
    # the producer writes a local tile over the slot that it has just handed on
    if f.loops[0].stages[0].cube:
        return None
    stage = f.loops[0].stages[0].name
    l = _respell(f, l, 2, lambda k: [k], lambda k: [k + 8])
    over = re.sub(r", (f|b)wd_ids=\[[^]]*\]", "", l[_decl(l, "c0_0")]).replace("c0_0", "over")
    l = _insert(l, _decl(l, "c0_0") + 1, over)
    l = _sub(l, _call(l, stage), r"\)$", ", over)")
    l = _sub(l, _at(l, rf"^def {stage}\("), r"\):$", ", over):")
    k = next(i for i in range(_body(l, stage), len(l)) if l[i].startswith("    pl.insert(d"))
    return _insert(l, k + 1, "    o = over.next()", "    pl.insert(o, z, [sub * 16, 0])")


@toward("K46", stages=4)
def _(f, l, r):
    return _share(f, _respell(f, l, 3, lambda k: [k], lambda k: [k + 7]))


@toward("K44", stages=4)
def _(f, l, r):
    if len(f.loops[0].channels) != 3:
        return None
    ids = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13, 14], [15]]
    return _share(f, _respell(f, l, 3, lambda k: ids[k], lambda k: ids[k + 3]))


@toward("S1")
def _(f, l, r):
    if not f.loops[0].channels[0].to_vector:
        return None
    return _sub(l, _decl(l, "c0_0"), r"type=half", "type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc)")


@toward("S2")
def _(f, l, r):
    k = _at(l, r.choice((r"^    a = src.next\(\)", r"^    d = dst.next\(\)")))
    how = r.randrange(3)
    if how == 0:
        return _insert(l, k, l[k])
    if how == 1:
        return _sub(l, k, r"next", "current")
    name = l[k].split()[0]
    group = "src" if name == "a" else "dst"
    return l[:k] + [f"    {name} = {group}.current()", f"    if row % 2 == 0:", f"        {name} = {group}.next()"] + l[k + 1:]


@toward("S3")
def _(f, l, r):
    k = _kernel_start(l)
    return _insert(l, k + 1, "        early = c0_0.next()")


@toward("S4", loops=2)
def _(f, l, r):
    if len(f.loops) < 2:
        return None
    k = _at(l, r"sync_all")
    return l[:k] + l[k + 1:]


@toward("S5")
def _(f, l, r):
    return _insert(l, _kernel_start(l), "    _pl_mine = 7")


@toward("S6")
def _(f, l, r):
    return _keywords(l, _call(l, r.choice(f.loops[0].stages).name))


def _keywords(l: Lines, k: int) -> Lines:
    stage = l[k].strip().partition("(")[0]
    names = re.search(r"\((.*)\):", l[_at(l, rf"^def {stage}\(")])[1].split(", ")
    given = re.search(r"\((.*)\)$", l[k])[1].split(", ")
    cut = max(1, len(names) - 2)
    args = given[:cut] + [f"{n}={g}" for n, g in zip(names[cut:], given[cut:])]
    return l[:k] + [_indent(l[k]) + f"{stage}({', '.join(args)})"] + l[k + 1:]


@toward("S7", stages=4)
def _(f, l, r):
    twice = r.choice((lambda k: [0, 1], lambda k: [k % 2]))
    return _respell(f, l, 2, twice, lambda k: [k + 8]) if len(f.loops[0].channels) > 2 else None


@toward("S8")
def _(f, l, r):
    a, b = _two(f)
    for stage, name in ((a, "one"), (b, "two")):
        l = _sub(l, _call(l, stage), r"\)$", f", {name})")
        l = _sub(l, _at(l, rf"^def {stage}\("), r"\):$", f", {name}):")
    return _insert(l, _kernel_start(l), '    one = pl.struct("One", k=0)', '    two = pl.struct("Two", k=1)')


@toward("pipeline-stage-outside-loop")
def _(f, l, r):
    k = _call(l, _two(f)[0])
    pad = "    "
    args = l[k].strip().replace("i0", "0").replace("row0", "0")
    outer = _at(l, r"^    for [oi]0 in ")
    return _insert(l, outer, f"{pad}{l[k - 1].strip()}", f"{pad}    {args}")


@toward("pipeline-break")
def _(f, l, r):
    k = _call(l, _last(f)) + 1
    pad = _indent(l[k - 2])
    return _insert(l, k, f"{pad}if i0 > {r.randrange(4)}:", f"{pad}    {r.choice(('break', 'continue'))}")


@toward("pipeline-return")
def _(f, l, r):
    k = _call(l, _two(f)[0]) - 1
    pad = _indent(l[k])
    return _insert(l, k, f"{pad}if i0 > {r.randrange(4)}:", f"{pad}    return")


@toward("pipeline-body-pick", stages=4)
def _(f, l, r):
    stage = next((s for s in f.loops[0].stages[1:] if not s.cube), None)
    if stage is None:
        return None
    k = _call(l, stage.name)
    l = _sub(l, k, r"\bwork\b", "picked")
    b = _body(l, stage.name)
    pick = next(i for i in range(b, len(l)) if l[i].strip() == "w = work.next()")
    l = _sub(l, pick, r"work.next\(\)", "work")
    k = _loop(l)
    pad = _indent(l[k]) + "    "
    return _insert(l, k + 1, f"{pad}with pl.section_vector():", f"{pad}    picked = work.next()")


@toward("pipeline-mixed-argument")
def _(f, l, r):
    stage = _last(f)
    l = _sub(l, _call(l, stage), r"\)$", ", p + row0)")
    l = _sub(l, _at(l, rf"^def {stage}\("), r"\):$", ", p):")
    return _sub(l, _at(l, r"^def fuzz_"), r"\(x: ", "(p: pl.Ptr[pl.DT_FP32], x: ")


@toward("pipeline-carried-state", stages=4)
def _(f, l, r):
    vectors = [s for s in f.loops[0].stages if not s.cube]
    if len(vectors) < 2:
        return None
    for s, line in ((vectors[0], "    pl.add(keep, w, 0.0)"), (vectors[1], "    pl.add(w, w, keep)")):
        l = _sub(l, _call(l, s.name), r"\)$", ", keep)")
        l = _sub(l, _at(l, rf"^def {s.name}\("), r"\):$", ", keep):")
        b = _body(l, s.name)
        k = next(i for i in range(b, len(l)) if re.match(r"    pl\.\w+\(w, a", l[i]))
        l = _insert(l, k + 1, line)
    return _insert(l, _kernel_start(l), "    keep = pl.make_tile(half, addr=0x3c000)")


@toward("pipeline-gm-handover")
def _(f, l, r):
    a, b = f.loops[0].stages[0], f.loops[0].stages[1]
    if a.cube or len(f.loops[0].channels) < 1:
        return None
    ba = _body(l, a.name)
    k = next(i for i in range(ba, len(l)) if re.match(r"    pl\.\w+\(w, ", l[i]))
    l = _insert(l, k + 1, f"    pl.store(y, w, [row * 32 + sub * 16, 0])")
    bb = _body(l, b.name)
    k = next(i for i in range(bb, len(l)) if l[i].strip() == "l = left.next()")
    return _insert(l, k, "    back = a_l1.next()", "    pl.load(back, y, [row * 32, 0])")


@toward("pipeline-unprotected")
def _(f, l, r):
    return _sub(l, _decl(l, r.choice(f.loops[0].channels).name), r", (f|b)wd_ids=\[[^]]*\](?=\))", "")


@toward("pipeline-channel-alias")
def _(f, l, r):
    l = _insert(l, _decl(l, "c0_0") + 1, "    other = c0_0")
    return _sub(l, _call(l, _two(f)[1]), r"\bc0_0\b", "other")


@toward("pipeline-cursor-mix", outer=1)
def _(f, l, r):
    l = _outer_pick(f, l, "picked = picks.next()")
    if l is None:
        return None
    cube = next(s for s in f.loops[0].stages if s.cube)
    l = _sub(l, _call(l, cube.name), r"picked\)$", "picked, picks)")
    l = _sub(l, _at(l, rf"^def {cube.name}\("), r"picked\):$", "picked, picks):")
    return _insert(l, _body(l, cube.name), "    again = picks.next()")


@toward("pipeline-permits")
def _(f, l, r):
    ch = f.loops[0].channels[0]
    k = _decl(l, "c0_0")
    l = _sub(l, k, r"mutex_ids=\[[^]]*\]", "mutex_ids=[" + ", ".join(["[29]"] * 16) + "]")
    l = _sub(l, k, r"addrs=0x[0-9a-f]+", "addrs=" + ("0x30000" if ch.to_vector else "0x70000"))
    l = _sub(l, k, r"fwd_ids=\[(\d+)[^]]*\]", r"fwd_ids=[\1]")
    return l[:k] + [re.sub(r"bwd_ids=\[(\d+)[^]]*\]", r"bwd_ids=[\1]", l[k])] + l[k + 1:]


def change(seed: int, number: int, long: int = 0) -> "tuple[str, Fuzz] | None":
    """(rules aimed at, changed kernel) of change `number` on the kernel of a seed; None when it has no place there."""
    rules, make, shape = CHANGES[number % len(CHANGES)]
    fuzz, rng = generate(seed, **shape, long=long), random.Random(seed)
    try:
        lines = make(fuzz, fuzz.source.splitlines(), rng)
    except (LookupError, StopIteration):
        return None
    if not lines:
        return None
    fuzz.source = "\n".join(lines) + "\n"
    return rules, fuzz
