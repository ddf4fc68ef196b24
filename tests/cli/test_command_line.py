"""The executable from a shell: exit codes 0 done, 1 the kernel failed, 2 wrong usage, 3 internal error."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))


def xpto(*arguments: str, cwd: Path | None = None, program: Path = BUILD / "bin/xpto", **variables: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "JUPYTER_PATH")} | variables
    return subprocess.run([str(program), *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def test_version() -> None:
    done = xpto("--version")
    assert done.returncode == 0 and done.stdout.startswith("xpto ")


def test_usage() -> None:
    done = xpto()
    assert done.returncode == 2 and "usage: xpto COMMAND" in done.stdout
    asked = xpto("--help")
    assert asked.returncode == 0
    for name in ("kernel", "compile", "run", "install", "doctor"):
        assert f"  {name}" in asked.stdout


@pytest.mark.parametrize("arguments", [("instal",), ("kernel", "-x"), ("install", "--nothing"), ("compile",), ("compile", "no_such_file.py"),
                                       ("run",), ("run", "no_such_file.py")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    done = xpto(*arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout + done.stderr


def test_unknown_command_names_the_nearest() -> None:
    assert "did you mean install?" in xpto("instal").stderr


def test_install_into_a_prefix(tmp_path: Path) -> None:
    done = xpto("install", "--prefix", str(tmp_path))
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "share/jupyter/kernels/xpto"
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["argv"] == [str((BUILD / "bin/xpto").resolve()), "kernel", "-f", "{connection_file}"]
    assert (spec["language"], spec["interrupt_mode"], spec["metadata"]) == ("python", "signal", {"debugger": False})
    assert {p.name for p in folder.iterdir()} == {"kernel.json", "kernel.js", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}
    for size in (32, 64):
        data = (folder / f"logo-{size}x{size}.png").read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(data[16:20], "big") == size


def test_install_for_the_user(tmp_path: Path) -> None:
    done = xpto("install", "--user", JUPYTER_DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0 and (tmp_path / "data/kernels/xpto/kernel.json").is_file()


def test_install_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "share").write_text("a file where a folder should be")
    done = xpto("install", "--prefix", str(tmp_path))
    assert done.returncode == 2 and "cannot write" in done.stderr


def test_doctor() -> None:
    done = xpto("doctor", "--json", JUPYTER_PATH=str(BUILD / "share/jupyter"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = {f["topic"]: f for f in json.loads(done.stdout)["findings"]}
    assert found["engine"]["state"] == found["kernelspec"]["state"] == "found"
    for f in found.values():
        assert f["state"] in ("found", "absent") and (f["state"] == "found" or f["cost"])
    assert "Python" in xpto("doctor").stdout


def test_run_a_script_as_python_would(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 7\n")
    script = tmp_path / "script.py"
    script.write_text("import sys, beside\nassert __name__ == '__main__'\nprint(beside.value, sys.argv[1:])\nprint('err', file=sys.stderr)\n")
    done = xpto("run", str(script), "a", "--b", cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7 ['a', '--b']\n", "err\n")


@pytest.mark.parametrize("text, code", [("raise SystemExit(5)", 5), ("import sys; sys.exit()", 0), ("1 / 0", 1), ("import os; os._exit(9)", 9)])
def test_exit_codes_of_scripts(tmp_path: Path, text: str, code: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(text + "\n")
    assert xpto("run", str(script)).returncode == code


def test_functions_of_the_package(tmp_path: Path) -> None:
    """Every function is there, and importing the file of the same name does not hide it."""
    script = tmp_path / "script.py"
    script.write_text("import importlib, xpto\nfor name, module in xpto._FUNCTIONS.items():\n    importlib.import_module(module)\n"
                      "    assert callable(getattr(xpto, name)), name\nprint(len(xpto._FUNCTIONS), xpto.__version__)\n")
    done = xpto("run", str(script))
    assert done.returncode == 0 and int(done.stdout.split()[0]) >= 8, done.stderr


def test_the_kernel_of_the_readme(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    cell = text[text.index("```python\n%%pto_kernel") + len("```python\n"):]
    script = tmp_path / "readme.py"
    script.write_text(cell[:cell.index("```")].split("\n", 1)[1] + "\nimport numpy as np\nx = np.arange(4096, dtype=np.float32).reshape(64, 64)\n"
                      "y, out = x * 3, np.zeros_like(x)\nadd[None, 1](x, y, out)\nassert np.array_equal(out, x + y)\nprint('equal')\n")
    done = xpto("run", str(script))
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr


def test_a_script_can_be_interrupted(tmp_path: Path) -> None:
    import signal
    import time
    script = tmp_path / "script.py"
    script.write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([str(BUILD / "bin/xpto"), "run", str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # a background job ignores it
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130 and time.monotonic() - begin < 5


def test_a_fault_of_ours_leaves_a_report(tmp_path: Path) -> None:
    """A command that breaks: exit code 3, the trace, and a folder to send."""
    package = tmp_path / "prefix/python"
    shutil.copytree(BUILD / "python", package)
    (package / "xpto/commands/broken.py").write_text("SUMMARY = 'breaks'\ndef main(argv):\n    raise RuntimeError('broken promise')\n")
    (tmp_path / "prefix/bin").mkdir()
    program = shutil.copy2(BUILD / "bin/xpto", tmp_path / "prefix/bin/xpto")
    done = xpto("broken", "x.py", program=Path(program), TMPDIR=str(tmp_path))
    assert done.returncode == 3 and "broken promise" in done.stderr
    report = Path(done.stderr.strip().rpartition(" in ")[2]) / "report.txt"
    assert "xpto broken x.py" in report.read_text()


def test_an_installation_works_where_it_is_put(tmp_path: Path) -> None:
    done = subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(tmp_path / "first")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    os.rename(tmp_path / "first", tmp_path / "moved")
    program = tmp_path / "moved/bin/xpto"
    report = xpto("doctor", "--json", program=program)
    engine = next(f for f in json.loads(report.stdout)["findings"] if f["topic"] == "engine")
    assert engine["state"] == "found" and str(tmp_path / "moved") in engine["detail"], engine
    assert xpto("install", "--prefix", str(tmp_path / "spec"), program=program).returncode == 0
    spec = json.loads((tmp_path / "spec/share/jupyter/kernels/xpto/kernel.json").read_text())
    assert spec["argv"][0] == str(program)
