"""The first notebook in real front-ends, trusted and not: it is complete, asks nothing of the network, and its scripts do not fail.

Pictures are left in build/screenshots to be looked at.
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import front_ends  # noqa: E402
from chromium import Chromium  # noqa: E402
from front_ends import BUILD, ROOT  # noqa: E402

PICTURES = BUILD / "screenshots"
NOTEBOOK = ROOT / "notebooks/01_first_kernel.ipynb"
# errors that a front-end's own scripts raise without us
OWN_ERRORS = {"notebook7": ("Cannot read properties of undefined (reading 'schema')",)}


def need(kind: str) -> None:
    why = front_ends.missing(kind)
    if why:
        pytest.skip(why)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = tmp_path_factory.mktemp("executed") / NOTEBOOK.name
    front_ends.execute(NOTEBOOK, result)
    PICTURES.mkdir(exist_ok=True)
    return result


@pytest.fixture
def browser() -> Iterator[Chromium]:
    need("html")
    with Chromium() as b:
        yield b


def check_page(browser: Chromium, kind: str) -> None:
    assert browser.outside == [], "the page asked other hosts"
    ours = [e for e in browser.errors if not any(known in e for known in OWN_ERRORS.get(kind, ()))]
    assert ours == [], "scripts failed"
    broken = browser.evaluate("[...document.querySelectorAll('img')].filter(i => i.complete && i.src.startsWith('data:') && !i.naturalWidth).length")
    assert broken == 0, f"{broken} pictures cannot be shown"


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
@pytest.mark.parametrize("kind", ["lab", "notebook7", "classic"])
def test_saved_notebook(executed: Path, browser: Chromium, kind: str, trusted: bool) -> None:
    need(kind)
    import json
    cells = json.loads(executed.read_text(encoding="utf-8"))["cells"]
    with front_ends.server(kind, [executed], trusted) as address:
        front_ends.open_notebook(browser, kind, address, executed.name, len(cells))
        browser.screenshot(PICTURES / f"first_kernel-{kind}-{'trusted' if trusted else 'untrusted'}.png")
        check_page(browser, kind)
        text = browser.evaluate("document.body.innerText")
    shown = [o for c in cells for o in c.get("outputs", ())]
    assert shown, "the executed notebook has no outputs"
    for cell in cells:  # every cell that shows something shows it here as well
        for output in cell.get("outputs", ()):
            if output["output_type"] == "stream" and output["name"] == "stdout":
                first = "".join(output["text"]).strip().splitlines()[0].strip()
                assert first in text, f"{kind}: {first!r} is not on the page"


@pytest.mark.parametrize("kind", ["lab", "classic"])
def test_pictures_need_no_trust(executed: Path, browser: Chromium, kind: str) -> None:
    """What an untrusted notebook shows as pictures is what a trusted one shows before its scripts run."""
    need(kind)
    import json
    book = json.loads(executed.read_text(encoding="utf-8"))
    saved = sum("".join(o["data"].get("text/html", "")).count("<img") for c in book["cells"] for o in c.get("outputs", ()) if "data" in o)
    with front_ends.server(kind, [executed], trusted=False) as address:
        front_ends.open_notebook(browser, kind, address, executed.name, len(book["cells"]))
        drawn = browser.evaluate("[...document.querySelectorAll('img')].filter(i => i.src.startsWith('data:image') && i.naturalWidth).length")
    assert drawn >= saved > 0


def test_html_export(executed: Path, browser: Chromium, tmp_path: Path) -> None:
    page = front_ends.to_html(executed, tmp_path)
    browser.open(page.as_uri())
    browser.pause(1)
    front_ends.fit(browser, "html", 1200)
    browser.screenshot(PICTURES / "first_kernel-html.png")
    # nbconvert's own template asks for these two
    assert [u for u in browser.outside if "require" not in u and "mathjax" not in u.lower()] == []
    ours = [e for e in browser.errors if "require" not in e and "MathJax" not in e]
    assert ours == []


def command(browser: Chromium, name: str) -> None:
    browser.evaluate(f"void window.jupyterapp.commands.execute('{name}')")


IDLE = "document.querySelector('.jp-Notebook-ExecutionIndicator')?.getAttribute('data-status') === 'idle'"


def test_run_all_interrupt_and_flood_in_the_lab(browser: Chromium, tmp_path: Path) -> None:
    """A front-end that runs cells itself: prompts are numbered, an interrupt ends a loop, a flood leaves the page alive."""
    need("lab")
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook
    cells = [new_code_cell(s) for s in ("print('first')", "while True: pass", "print('behind the loop')")]
    path = tmp_path / "live.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": {"name": "xpto", "display_name": "PTO (xeus)", "language": "python"}}), path)
    prompts = "[...document.querySelectorAll('.jp-InputPrompt')].map(e => e.innerText.trim()).filter(Boolean)"
    with front_ends.server("lab", [path], trusted=True) as address:
        front_ends.open_notebook(browser, "lab", address, path.name, len(cells))
        browser.wait(IDLE, 60)
        command(browser, "notebook:run-all-cells")
        browser.wait("document.body.innerText.includes('first')", 30)
        browser.pause(0.5)
        assert "[*]:" in browser.evaluate(prompts)
        command(browser, "notebook:interrupt-kernel")
        browser.wait("document.body.innerText.includes('KeyboardInterrupt')", 20)
        browser.wait(IDLE, 20)
        browser.pause(0.5)
        assert browser.evaluate(prompts)[:2] == ["[1]:", "[2]:"]
        assert "behind the loop" not in browser.evaluate("[...document.querySelectorAll('.jp-OutputArea-output')].map(e => e.innerText).join()")
        browser.evaluate("[...jupyterapp.shell.widgets('main')][0].content.widgets[1].model.sharedModel.setSource('for i in range(300000): print(i)')")
        command(browser, "notebook:run-all-cells")
        browser.wait("document.body.innerText.includes('more lines')", 60)
        browser.wait("[...document.querySelectorAll('.jp-OutputArea-output')].some(e => e.innerText.includes('behind the loop'))", 60)
        assert browser.evaluate("document.querySelector('.jp-OutputArea-output a').getAttribute('href')")
        browser.screenshot(PICTURES / "flood-lab.png")
