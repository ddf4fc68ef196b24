"""Generated C++ against the library's own headers (its simulator for the host), where PTO_ISA_HOME names them; prints the share of forms that compile."""
from __future__ import annotations

import concurrent.futures
import os
import re
import subprocess
from pathlib import Path

import pytest

import checking
import support
from conftest import BUILD, ROOT

HOME = os.environ.get("PTO_ISA_HOME", "")
INCLUDE = next((p for p in (Path(HOME), Path(HOME) / "include") if (p / "pto/pto-inst.hpp").is_file()), None) if HOME else None
pytestmark = [pytest.mark.skipif(INCLUDE is None, reason="PTO_ISA_HOME names no PTO-ISA tree: generated C++ is checked against the declared forms only"),
              pytest.mark.skipif(not checking.COMPILER, reason="no C++ compiler is on PATH")]

# What the library's simulator has not, form by form; the card's half of the library has it (read in its headers, built by nobody here).
NOT_SIMULATED = {
    "matmul_bias_partial|matmul_bias_final|matmul_acc_partial|matmul_acc_final|gemv_(acc|bias)_(partial|final)": "no unit-flag form of accumulating and biased products",
    "system_dcci_(AUTO|CACHELINE_UB|CACHELINE_ALL|CACHELINE_ATOMIC)": "one destination of cache maintenance only",
    "gather_compare_(eq|gt)": "no gather by comparison",
    "dump_data_(tensor|tensor_window|acc)": "prints tiles, not views of global memory",
}


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The compiler's flags; a copy of the one header that older compilers refuse, its always-false assertion made to depend on a type."""
    overlay = tmp_path_factory.mktemp("overlay")
    source = INCLUDE / "pto/cpu/TReduceIdx.hpp"
    if source.is_file():
        (overlay / "pto/cpu").mkdir(parents=True)
        (overlay / "pto/cpu/TReduceIdx.hpp").write_text(re.sub(r"static_assert\(false\b", "static_assert(sizeof(DType) == 0", source.read_text()))
    return ["-w", "-D__CPU_SIM", f"-I{overlay}", f"-I{INCLUDE}", "-idirafter", str(checking.DECLARED)]


FIRST = f'#include "{Path(__file__).parent / "missing_in_simulator.hpp"}"\n'


def test_the_share_of_forms_that_compile(tmp_path: Path, flags: list[str]) -> None:
    program = BUILD / "tests/unit/emit/write_rows"
    if not program.is_file():
        pytest.skip(f"{program} was not built")
    listed = [line.split() for line in subprocess.run([program, tmp_path], check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()]
    tried = [row for row in listed if not row[2].startswith("vf.")]  # the simulator has no registers
    failed: dict[str, str] = {}
    for side, core in (("CUBE", "cube"), ("VEC", "vector")):
        failed |= checking.errors(tmp_path, [tmp_path / r[0] / "kernel.cpp" for r in tried if r[1] == core], side, flags, FIRST)
    unblamed = failed.pop("?", "")
    # One instantiation is reported once, whoever else needs it: the other forms of an operation that failed are tried one by one.
    beside = {r[2] for r in tried if r[0] in failed}

    def alone(row: list[str]) -> dict[str, str]:
        side = "CUBE" if row[1] == "cube" else "VEC"
        return {row[0]: e for e in checking.errors(tmp_path / row[0], [tmp_path / row[0] / "kernel.cpp"], side, flags, FIRST).values()}
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for more in pool.map(alone, (r for r in tried if r[2] in beside and r[0] not in failed)):
            failed |= more
    explained = {name: why for name in failed for pattern, why in NOT_SIMULATED.items() if re.fullmatch(rf"r\d+_({pattern})", name)}
    rows = {r[2] for r in tried}
    bad_rows = {r[2] for r in tried if r[0] in failed}
    print(f"\n{len(tried) - len(failed)} of {len(tried)} forms compile against {INCLUDE}; of {len(rows)} operations {len(rows - bad_rows)} in every form, "
          f"{len(listed) - len(tried)} register forms are not simulated")
    for name, why in sorted(explained.items()):
        print(f"  {name}: {why}")
    assert {n: e for n, e in failed.items() if n not in explained} == {}
    assert not unblamed or failed, unblamed


def test_attention_and_examples_compile(tmp_path: Path, flags: list[str]) -> None:
    from xpto.static_file import StaticFile
    made = {"attention": support.load((Path(__file__).parent / "attention.py").read_text())["attention"].compile()}
    for path in sorted((ROOT / "share/xpto/examples").glob("*.py")):
        made |= {f"{path.stem}_{k.__name__}": k.compile() for k in StaticFile(path).kernels}
    for name, m in made.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.cpp").write_text(m.native.emitted()["files"]["kernel.cpp"], encoding="utf-8")
    for side in ("CUBE", "VEC"):
        assert checking.errors(tmp_path, [tmp_path / name / "kernel.cpp" for name in made], side, flags, FIRST) == {}
