"""Notebooks run headless with the kernel of the build folder, and what their cells showed as text."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
NOTEBOOKS = ROOT / "notebooks"

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def execute(path: Path, timeout: int = 300) -> Any:
    """The notebook with its outputs. Cells may fail: what must not is for the caller to say."""
    os.environ["JUPYTER_PATH"] = str(BUILD / "share/jupyter")
    import nbformat
    from nbclient import NotebookClient
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, timeout=timeout, kernel_name="xpto", allow_errors=True, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    return book


def text_of(output: dict[str, Any]) -> str:
    kind = output["output_type"]
    if kind == "stream":
        return "".join(output["text"])
    if kind == "error":
        return _ANSI.sub("", "\n".join(output["traceback"])) or f"{output['ename']}: {output['evalue']}"
    return "".join(output["data"].get("text/plain", f"({', '.join(output['data'])})"))


@dataclass(frozen=True)
class Cell:
    source: str
    tags: tuple[str, ...]
    outputs: tuple[dict[str, Any], ...]

    @property
    def failed(self) -> bool:
        return any(o["output_type"] == "error" for o in self.outputs) or "UsageError" in self.text

    @property
    def text(self) -> str:
        return "\n".join(text_of(o).rstrip("\n") for o in self.outputs)

    def html(self) -> str:
        return "\n".join("".join(o["data"]["text/html"]) for o in self.outputs if "text/html" in o.get("data", {}))


class Shown:
    """What an executed notebook shows, cell by cell."""

    def __init__(self, book: Any) -> None:
        self.cells = [Cell("".join(c["source"]), tuple(c["metadata"].get("tags", ())), tuple(c["outputs"]))
                      for c in book["cells"] if c["cell_type"] == "code"]

    def cell(self, part: str) -> Cell:
        """The one code cell whose source contains `part`."""
        found = [c for c in self.cells if part in c.source]
        assert len(found) == 1, f"{len(found)} code cells contain {part!r}"
        return found[0]

    def number(self, part: str, pattern: str) -> float:
        """The number that the first group of `pattern` finds in what that cell shows."""
        text = self.cell(part).text
        found = re.search(pattern, text)
        assert found is not None, f"no {pattern!r} in:\n{text}"
        return float(found[1].replace(",", ""))
