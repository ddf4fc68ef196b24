"""Generated C++ against the header that declares every form: one kernel per catalogue row and form, the examples, generated pipelines."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import checking
import support
from conftest import BUILD, ROOT

pytestmark = pytest.mark.skipif(not checking.COMPILER, reason="no C++ compiler (g++ or clang++) is on PATH")
FLAGS = [f"-I{checking.DECLARED}"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[str]]]:
    program = BUILD / "tests/unit/emit/write_rows"
    if not program.is_file():
        pytest.skip(f"{program} was not built")
    folder = tmp_path_factory.mktemp("rows")
    said = subprocess.run([program, folder], check=True, capture_output=True, text=True, timeout=60).stdout
    return folder, [line.split() for line in said.splitlines()]


def test_every_form_of_every_row_compiles(rows: tuple[Path, list[list[str]]]) -> None:
    folder, listed = rows
    assert len(listed) > 700 and len({row for _, _, row, _ in listed}) > 230
    for side, core in (("CUBE", "cube"), ("VEC", "vector")):
        kernels = [folder / name / "kernel.cpp" for name, where, _, _ in listed if where == core]
        assert checking.errors(folder, kernels, side, FLAGS) == {}


def test_same_program_same_bytes(rows: tuple[Path, list[list[str]]], tmp_path: Path) -> None:
    folder, listed = rows
    subprocess.run([BUILD / "tests/unit/emit/write_rows", tmp_path], check=True, capture_output=True, timeout=60)
    for name, *_ in listed:
        for file in ("kernel.cpp", "call_kernel.cpp", "launch_args.json", "build_command.txt"):
            assert (folder / name / file).read_bytes() == (tmp_path / name / file).read_bytes(), (name, file)


WRONG = {
    "a sum of L1 tiles": ("TADDS(t0_d0, t1_d1", "TADDS(t0_d0, t1_d1, t1_d1"),
    "a load the wrong way round": ("TLOAD(t0_d0, x0_0)", "TLOAD(x0_0, t0_d0)"),
    "a product of accumulators": ("TMATMUL(t0_d0, t1_d1, t2_d2)", "TMATMUL(t0_d0, t2_d2, t1_d1)"),
    "a flag without a number": ("EVENT_ID3", "3"),
    "a tile with rows that are no blocks": ("float, 16, 64, BLayout::RowMajor", "float, 16, 63, BLayout::RowMajor"),
    "a move to a memory without a path": ("TMOV<std::remove_reference_t<decltype(t0_d0)>, std::remove_reference_t<decltype(t1_d1)>>(t0_d0, t1_d1)",
                                          "TMOV<std::remove_reference_t<decltype(t1_d1)>, std::remove_reference_t<decltype(t0_d0)>>(t1_d1, t0_d0)"),
    "a sum with the arguments of a conversion": ("vadd(", "vcvt("),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_declared_forms_refuse(what: str, rows: tuple[Path, list[list[str]]], tmp_path: Path) -> None:
    """The header has teeth: each of these texts is one edit away from a generated one and must not compile."""
    folder, listed = rows
    right, wrong = WRONG[what]
    for name, core, _, _ in listed:
        text = (folder / name / "kernel.cpp").read_text()
        if right in text:
            (tmp_path / name).mkdir()
            (tmp_path / name / "kernel.cpp").write_text(text.replace(right, wrong))
            side = "CUBE" if core == "cube" else "VEC"
            assert checking.errors(tmp_path, [folder / name / "kernel.cpp"], side, FLAGS) == {}
            assert checking.errors(tmp_path, [tmp_path / name / "kernel.cpp"], side, FLAGS) != {}
            return
    pytest.fail(f"no generated kernel holds {right!r}")


def _write(folder: Path, name: str, made: object) -> Path:
    assert made.ok, made.text()  # type: ignore[attr-defined]
    emitted = made.native.emitted()  # type: ignore[attr-defined]
    assert emitted["lacking"] == [], (name, emitted["lacking"])
    (folder / name).mkdir()
    for file, text in emitted["files"].items():
        (folder / name / file).write_text(text, encoding="utf-8")
    return folder / name / "kernel.cpp"


def test_examples_and_generated_pipelines_compile(tmp_path: Path) -> None:
    """Each in a unit of its own name: kernels that share a name or a struct may stand in one checkout, not in one unit."""
    from generate import generate
    from xpto.static_file import StaticFile
    kernels = [_write(tmp_path, f"{path.stem}_{k.__name__}", k.compile()) for path in sorted((ROOT / "share/xpto/examples").glob("*.py")) for k in StaticFile(path).kernels]
    assert len(kernels) >= 3
    for seed in range(12):
        fuzz = generate(seed)
        made = support.load(fuzz.source)[fuzz.name].compile(check="warn")
        if made.ok:
            kernels.append(_write(tmp_path, f"fuzz{seed}", made))
    assert len(kernels) >= 10
    for k in kernels:
        for side in ("CUBE", "VEC"):
            assert checking.errors(tmp_path, [k], side, FLAGS) == {}, k
