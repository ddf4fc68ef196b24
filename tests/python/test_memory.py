"""A session that defines kernels all day keeps a bounded amount of memory."""
from __future__ import annotations

import subprocess
import sys

from support import EXAMPLES, example_text, load

from xpto import _engine

GROWTH = """
import gc, linecache, sys
import xpto
from xpto import kernel
text = open(sys.argv[1]).read().split('if __name__')[0]
shared = {'__name__': 'session'}

def define(i):
    name = f'<cell {i}>'
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = shared if sys.argv[2] == 'rebound' else {'__name__': f'module{i}'}  # a module of its own goes away with all its names
    exec(compile(text, name, 'exec'), names)
    kernel.created.clear()
    assert names['relu_matmul'].compile().ok

def resident():
    gc.collect()
    return int(open('/proc/self/statm').read().split()[1]) * 4

for i in range(80): define(i)
before = resident()
for i in range(80, 160): define(i)
print((resident() - before) / 80)
"""


def growth(way: str) -> float:
    done = subprocess.run([sys.executable, "-c", GROWTH, str(EXAMPLES / "relu_matmul.py"), way], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_kernels_defined_again_let_go_of_the_old_ones() -> None:
    assert growth("rebound") < 200  # KiB a kernel; 900 when every tree is kept


def test_modules_with_kernels_are_collected() -> None:
    assert growth("modules") < 200  # 1300 when the cycle of module, kernel and compilation stays


def test_a_tree_that_was_forgotten_and_read_again_is_no_new_definition() -> None:
    kernel = load(example_text())["relu_matmul"]
    made = kernel.compile()
    _engine.forget_sources()
    assert not made.stale()
    assert kernel.compile() is made
