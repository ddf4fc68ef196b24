"""Scalar code means what Python means: each program below runs once as a helper of a kernel and once as the Python function it is."""
from __future__ import annotations

import types

import numpy as np
import pytest
from support import load

PROGRAMS = {
    "loops": '''
def run(x, n, m):
    i = 0
    total = 0
    while i < n:
        if i % 2 == 1:
            i += 1
            continue
        total += i * STEP
        i += 1
        if total > m * 3:
            break
    x[0] = total
    x[1] = i
    a, b = n, m
    for i in pl.range(n, 0, -2):
        a, b = b, a + i
        for j in pl.range(i):
            if j == 3:
                break
            b += j
    x[2] = a
    x[3] = b
    while n > 0:
        n = n // 2
    x[4] = n
    last = -1
    for i in pl.range(m):
        i = i * 10
        last = i
    x[5] = last
    if m > 2:
        x[6] = 1
        return
    x[6] = 2
''',
    "helpers": '''
def clamp(v, lo=0, hi=STEP):
    if v < lo:
        return lo
    if v > hi:
        return hi
    return v

def both(a, b):
    return a + b, a - b

def first_square_above(n):
    for i in pl.range(n):
        if i * i > 20:
            return i
    return -1

def nested(v):
    if v > 3:
        if v > 6:
            return 1
        else:
            return 2
    else:
        if v == 0:
            return 3
    return 4

def write(x, i):
    x[i] = 99
    return

def run(x, n, m):
    x[0] = clamp(n) + clamp(n, 2) * 10 + clamp(m, 2, 3) * 100
    a, b = both(n, clamp(m * 2))
    x[1], = a,
    x[2] = b
    write(x, 3)
    x[4] = first_square_above(n) + nested(m)
    x[5] = clamp(clamp(n) + clamp(2)) if nested(n) == 2 else nested(first_square_above(m))
    c = both(both(n, 1)[0], 2)
    x[6] = c[1]
'''.replace("    x[1], = a,\n", "    x[1] = a\n"),
    "merges": '''
def run(x, n, m):
    a = 1
    if n > 2:
        a = 2
    elif n == 0:
        a = n
    x[0] = a
    if n > m:
        b = n
    else:
        b = m
    x[1] = b
    g = (1, n)
    if n > 1:
        g = (2, n + 1)
    x[2] = g[0] * g[1]
    s, t = n, m
    s, t = t, s
    for i in pl.range(3):
        s, t = t, s + t
    x[3] = s
    x[4] = t
    x[5] = 1 if n > 0 and m > 0 or n == 7 else 0
    x[6] = (n in (1, 2, 3)) + (m not in pl.range(2, 5)) * 2
    x[7] = -n + ~m
    x[8] = pl.min(n, pl.max(m, 2)) + max(n, m)
    flag = n == 3
    if flag:
        flag = m > 2
    x[9] = 5 if flag else 6
    c = 3
    for i in pl.range(n):
        if i > 4:
            c = 4
            break
        c += i
    x[10] = c
''',
    "records": '''
def bump(s, k):
    s.n += k
    s.a[k] = s.n
    return s.n

def run(x, n, m):
    s = pl.struct("S", n=0, a=[0, 0, 0, 0])
    rows = pl.struct_array(3, "R", v=1, w=[1, 2])
    s.n = n
    x[0] = bump(s, 2)
    x[1] = s.a[2]
    s.a = [5, 6, 7, 8]
    for i in pl.range(4):
        s.a[i] = s.a[i] + i * n
    x[2] = s.a[m % 4]
    for i in pl.range(3):
        rows[i].v = i * 10
        rows[i].w[1] = i + m
    x[3] = rows[n % 3].v
    x[4] = rows[2].w[1] + rows[2].w[0]
    e = rows[1]
    e.v = 77
    x[5] = rows[1].v
    if n > 3:
        s.n = 1000
    else:
        s.n += 2000
    t = s
    t.n += 1
    x[6] = s.n
    rows[n % 3].v += 1
    x[7] = rows[n % 3].v
''',
    # What stands on the side that is not taken does not run: divisors of zero, elements outside, records that change.
    "only_the_chosen_side": '''
def bump(s):
    s.n += 1
    return s.n

def run(x, n, m):
    s = pl.struct("S", n=0, a=[1, 2, 3])
    x[0] = 10 // n if n != 0 else 5
    x[1] = x[n] if n < 8 else -1
    a = bump(s) if n > 2 else 0
    x[2] = s.n * 10 + a
    x[3] = (x[n] if n < 4 else x[n - 4]) if n < 8 else 0
    x[4] = s.a[m] if m < 3 else 9
    if n != 0:
        x[5] = 100 // n + m % n
    x[6] = 1 if n != 0 and 10 // n > 2 and n < 10 else 0
    x[7] = 1 if n == 0 or 10 % n == 1 else 0
    i = 0
    while i < 3 and s.a[i] != m:
        i += 1
    x[8] = i
    x[9] = 0 if n != 0 and (m == 0 or 12 // m // n > 0) else 1
''',
}


class Record(types.SimpleNamespace):
    pass


def python_language() -> types.SimpleNamespace:
    def copy(fields: dict) -> Record:
        return Record(**{k: list(v) if isinstance(v, list) else v for k, v in fields.items()})
    return types.SimpleNamespace(range=range, min=min, max=max, struct=lambda name, **f: copy(f),
                                 struct_array=lambda n, name, **f: [copy(f) for _ in range(n)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_helper_computes_what_python_computes(name: str) -> None:
    text = "STEP = 7\n" + PROGRAMS[name]
    plain: dict = {"pl": python_language()}
    exec(text, plain)
    kernel = load("import pypto_pro.language as pl\n" + text + '''

@pl.jit()
def k(x: pl.Tensor[[16], pl.DT_INT64], n: pl.DT_INT64, m: pl.DT_INT32):
    with pl.section_vector():
        run(x, n, m)
''')["k"]
    for n, m in ((0, 0), (0, 5), (1, 2), (2, 1), (3, 3), (5, 4), (7, 0), (9, 2), (13, 11)):
        expected, found = np.arange(16), np.arange(16)
        plain["run"](expected, n, m)
        kernel(found, n, m)
        assert list(found) == list(expected), (name, n, m)


def test_only_the_chosen_slot_moves_its_cursor() -> None:
    k = load('''
import pypto_pro.language as pl


@pl.jit()
def k(o: pl.Tensor[[8], pl.DT_FP32], n: pl.DT_INT32):
    t = pl.TileType(shape=[8, 8], dtype=pl.DT_FP32)
    g = pl.make_tile_group(type=t, addrs=0, mutex_ids=[0, 1, 2])
    h = pl.make_tile_group(type=t, addrs=0x1000, mutex_ids=[3, 4, 5])
    with pl.section_vector():
        for i in pl.range(3):
            pl.setval(g[i], 0, 10 + i)
            pl.setval(h[i], 0, 20 + i)
        for i in pl.range(4):
            u = g.next() if i < n else h.next()
            o[i] = pl.getval(u, 0)
        o[4] = pl.getval(g.current(), 0)
        o[5] = pl.getval(h.current(), 0)
''')["k"]
    for n, expected in ((0, [20, 21, 22, 20, 12, 20]), (2, [10, 11, 20, 21, 11, 21]), (4, [10, 11, 12, 10, 10, 22])):
        o = np.zeros(8, np.float32)
        k(o, n)
        assert list(o[:6]) == expected


@pytest.mark.parametrize("body", ["while n:\n            n -= 1", "while f > 0:\n            f = f / 2.0", "while n > 0 and f > 1.0:\n            f = f - 1.0"])
def test_a_scalar_loop_of_unknown_length_compiles(body: str) -> None:
    """Nothing but an argument ends these loops, and they issue no operation: following them for ever would be a hang."""
    k = load("import pypto_pro.language as pl\n\n@pl.jit()\ndef k(x: pl.Tensor[[8], pl.DT_FP32], n: pl.DT_INT32, f: pl.DT_FP32):\n"
             f"    with pl.section_vector():\n        {body}\n        x[0] = f + n\n")["k"]
    x = np.ones(8, np.float32)
    k(x, 3, 2.0)
    assert x[0] == {"while n:": 2, "while f ": 3, "while n ": 4}[body[:8]]
