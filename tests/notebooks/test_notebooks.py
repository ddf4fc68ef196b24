"""Every notebook under notebooks/ runs, and the numbers it shows are right: expected/NAME.py has `check(shown, language)`.

A translation (NAME_zh.ipynb) has the code of its original, below the cell that chooses the language of messages.
"""
from __future__ import annotations

import importlib.util
import json
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from execution import NOTEBOOKS, Shown, execute  # noqa: E402

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
LANGUAGES = ("zh",)


def language(path: Path) -> str:
    return next((x for x in LANGUAGES if path.stem.endswith("_" + x)), "en")


def original(path: Path) -> Path:
    return path if language(path) == "en" else path.with_name(path.stem.removesuffix("_" + language(path)) + ".ipynb")


@lru_cache
def shown(path: Path) -> Shown:
    return Shown(execute(path))


def expectation(path: Path) -> Any:
    file = Path(__file__).parent / "expected" / f"{original(path).stem}.py"
    assert file.is_file(), f"{path.name} has no expectations: write {file.name} with check(shown, language)"
    spec = importlib.util.spec_from_file_location("expected_" + "".join(c if c.isalnum() else "_" for c in file.stem), file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_notebooks() -> None:
    assert PATHS


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_cells_run(path: Path) -> None:
    for cell in shown(path).cells:
        assert cell.failed == ("raises-exception" in cell.tags), f"{cell.source}\n\n{cell.text}"


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_numbers(path: Path) -> None:
    expectation(path).check(shown(path), language(path))


@pytest.mark.parametrize("path", [p for p in PATHS if original(p) != p], ids=lambda p: p.stem)
def test_translations_have_the_same_code(path: Path) -> None:
    def code(p: Path) -> list[str]:
        return ["".join(c["source"]) for c in json.loads(p.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]

    assert code(path)[0].startswith(f"%pto_config lang={language(path)}")
    assert code(path)[1:] == code(original(path))


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_saved_without_outputs(path: Path) -> None:
    """Outputs in the repository would grow stale unseen."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
