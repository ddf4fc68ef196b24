"""Notebook pages in a browser: JupyterLab and Notebook 7 from .venv-lab, the classic notebook from the system, and nbconvert's HTML."""
from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator
from urllib.parse import quote
from urllib.request import urlopen

from chromium import Chromium

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
LAB = Path(os.environ.get("XPTO_LAB", ROOT / ".venv-lab"))
KINDS = ("lab", "notebook7", "classic", "html")


def missing(kind: str) -> str:
    """Why a front-end cannot be used here; empty when it can."""
    from chromium import PROGRAMS, program
    if program() is None:
        return f"no browser: none of {', '.join(PROGRAMS)}"
    if kind in ("lab", "notebook7") and not (LAB / "bin/jupyter-lab").is_file():
        return f"JupyterLab is not installed in {LAB}: make lab-install needs a package index"
    if kind == "classic" and shutil.which("jupyter-notebook", path="/usr/bin:/bin") is None:
        return "the classic notebook is not installed"
    return ""


def _environment(folder: Path, dark: bool = False) -> dict[str, str]:
    """Settings of their own, so that neither the user's trust database nor their configuration plays a part."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER") and k not in ("PYTHONPATH", "PYTHONHOME")}
    for name in ("data", "config", "runtime"):
        (folder / name).mkdir(exist_ok=True)
        env[f"JUPYTER_{name.upper()}_DIR"] = str(folder / name)
    env["JUPYTER_PATH"] = str(BUILD / "share/jupyter")
    env["JUPYTERLAB_SETTINGS_DIR"] = str(folder / "lab-settings")
    env["IPYTHONDIR"] = str(folder / "ipython")
    settings = {"notebook-extension/tracker": {"windowingMode": "none"},
                "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False}}
    if dark:
        settings["apputils-extension/themes"] = {"theme": "JupyterLab Dark"}
    for name, values in settings.items():
        file = folder / "lab-settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    return env


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextmanager
def server(kind: str, notebooks: list[Path], trusted: bool, dark: bool = False) -> Iterator[str]:
    """A server over copies of the notebooks; gives its address."""
    with tempfile.TemporaryDirectory(prefix="xpto-notebooks-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        env, files = _environment(folder, dark), folder / "files"
        files.mkdir()
        for notebook in notebooks:
            shutil.copyfile(notebook, files / notebook.name)
            if trusted:
                python = "/usr/bin/python3" if kind == "classic" else str(LAB / "bin/python")
                trust = "from nbformat.sign import TrustNotebookApp; TrustNotebookApp.launch_instance()"
                subprocess.run([python, "-c", trust, str(files / notebook.name)], env=env, check=True, capture_output=True)
        port = _free_port()
        common = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
        if kind == "classic":
            command = ["/usr/bin/jupyter-notebook", *common, "--NotebookApp.token=", "--NotebookApp.password=", f"--notebook-dir={files}"]
        else:
            command = [str(LAB / f"bin/jupyter-{'lab' if kind == 'lab' else 'notebook'}"), *common, "--IdentityProvider.token=",
                       f"--ServerApp.root_dir={files}", "--LabApp.expose_app_in_browser=True"]
        log = open(folder / "server.log", "w+")
        process = subprocess.Popen(command, env=env, cwd=files, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        address = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    urlopen(f"{address}/api", timeout=2).read()
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > deadline:
                        log.seek(0)
                        raise RuntimeError(f"{command[0]} did not start:\n{log.read()[-2000:]}") from None
                    time.sleep(0.2)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.close()


_READY = {
    # as many cells on the page as in the file, and nothing left that is being rendered
    "lab": "document.querySelectorAll('.jp-Notebook .jp-Cell').length >= {cells} && !document.querySelector('.jp-Spinner')",
    "classic": "window.Jupyter && Jupyter.notebook && Jupyter.notebook._fully_loaded && "
               "document.querySelectorAll('#notebook .cell').length >= {cells}",
}
_HEIGHT = {
    # from the first cell to the end of the last one: the panel itself is never smaller than the window
    "lab": "(r => Math.max(...r.map(b => b.bottom)) - Math.min(...r.map(b => b.top)))"
           "([...document.querySelectorAll('.jp-Notebook .jp-Cell')].map(e => e.getBoundingClientRect()))",
    "classic": "document.querySelector('#notebook-container').scrollHeight",
    "html": "document.documentElement.scrollHeight",
}


def open_notebook(browser: Chromium, kind: str, address: str, name: str, cells: int, width: int = 1200) -> None:
    """Opens one notebook and makes the page as high as its content, so that a screenshot holds all of it."""
    path = {"lab": "doc/tree/", "notebook7": "notebooks/", "classic": "notebooks/"}[kind]
    browser.open(f"{address}/{path}{quote(name)}")
    family = "classic" if kind == "classic" else "lab"
    browser.wait(_READY[family].format(cells=cells), 90)
    browser.pause(1)
    fit(browser, family, width)


def fit(browser: Chromium, family: str, width: int) -> None:
    for _ in range(2):  # images arrive, lines wrap
        browser.size(width, min(int(browser.evaluate(_HEIGHT[family])) + (60 if family == "html" else 220), 16000))
        browser.pause(0.5)


def to_html(notebook: Path, folder: Path, sanitized: bool = False) -> Path:
    """nbconvert's HTML of a notebook as it is, with the system's nbconvert."""
    command = ["/usr/bin/python3", "-m", "nbconvert", "--to", "html", "--output-dir", str(folder), "--log-level=ERROR"]
    if sanitized:
        command.append("--HTMLExporter.sanitize_html=True")
    subprocess.run([*command, str(notebook)], check=True, stdin=subprocess.DEVNULL)
    return folder / (notebook.stem + ".html")


def execute(notebook: Path, result: Path, timeout: int = 300) -> None:
    """Runs every cell with the kernel that was built and writes the notebook with its outputs."""
    env = {**os.environ, "JUPYTER_PATH": str(BUILD / "share/jupyter")}
    subprocess.run(["/usr/bin/python3", "-m", "nbconvert", "--to", "notebook", "--execute", "--allow-errors", "--log-level=ERROR",
                    f"--ExecutePreprocessor.timeout={timeout}", "--output", str(result.resolve()), str(notebook)],
                   check=True, env=env, stdin=subprocess.DEVNULL)


def cell_count(notebook: Path) -> int:
    return len(json.loads(notebook.read_text(encoding="utf-8"))["cells"])


if __name__ == "__main__":
    for kind in KINDS:
        print(f"{kind:<10} {missing(kind) or 'available'}", file=sys.stdout)
