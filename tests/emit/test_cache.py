"""The cache on disk: complete or absent, shared by processes, private, bounded."""
from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import support
from xpto import builds, cache
from xpto.errors import PtoError

HERE = Path(__file__).resolve()

# one process of the race: makes or finds `rounds` entries, each of several files, slowly enough to be killed inside
MAKER = '''
import sys, time
from xpto import builds
def fill(number):
    def make(folder):
        for part in range(4):
            (folder / f"part{part}").write_text(f"{number} {part}\\n" * 200)
            time.sleep(float(sys.argv[2]))
    return make
for number in range(int(sys.argv[1])):
    folder, made = builds.folder("race", ["entry", str(number)], fill(number))
    parts = [(folder / f"part{p}").read_text() for p in range(4)]
    assert parts == [f"{number} {p}\\n" * 200 for p in range(4)], folder
    print(number, made, flush=True)
'''


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XPTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("XPTO_CACHE_DIR", raising=False)
    monkeypatch.delenv("XPTO_CACHE_SIZE", raising=False)
    return tmp_path / "cache"


def start(rounds: int, pause: float) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", MAKER, str(rounds), str(pause)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_that_make_the_same_entries_all_find_them_whole(own_cache: Path) -> None:
    running = [start(6, 0.002) for _ in range(5)]
    for p in running:
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0, err
        assert len(out.splitlines()) == 6
    assert len(cache.entries()) == 6
    assert [p.name for p in (own_cache / "race").glob(".*")] == []  # losers of the race leave nothing


def test_a_killed_process_leaves_nothing_that_is_taken_for_an_entry(own_cache: Path) -> None:
    victims = [start(50, 0.02) for _ in range(3)]
    for v in victims:
        assert v.stdout is not None
        v.stdout.readline()       # it is at work
    time.sleep(0.03)
    for v in victims:
        os.kill(v.pid, signal.SIGKILL)
        v.wait()
    assert (own_cache / "race").is_dir()
    for e in cache.entries():
        assert sorted(p.name for p in e.path.iterdir()) == [".bytes", "part0", "part1", "part2", "part3"]
    survivor = start(8, 0.0)
    out, err = survivor.communicate(timeout=60)
    assert survivor.returncode == 0, err
    half_made = list((own_cache / "race").glob(".making-*"))
    assert half_made, "no process was killed inside an entry: the test did not test"
    for path in half_made:  # they go once nobody can be working on them any more
        os.utime(path, (1, 1))
    cache.trim()
    assert list((own_cache / "race").glob(".making-*")) == []


def test_only_the_user_may_read_it(own_cache: Path) -> None:
    old = os.umask(0)
    try:
        folder, _ = builds.folder("race", ["x"], lambda f: (f / "a").write_text("a") and None)
    finally:
        os.umask(old)
    for path in (own_cache, own_cache / "race", folder):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    own_cache.chmod(0o755)  # a folder that somebody made before
    builds.folder("race", ["y"], lambda f: None)
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700


def test_a_folder_of_another_user_is_refused(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_cache.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: own_cache.stat().st_uid + 1)
    with pytest.raises(PtoError, match="belongs to another user"):
        builds.folder("race", ["x"], lambda f: None)


def test_a_folder_that_cannot_be_made_says_how_to_choose_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XPTO_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(PtoError, match="set XPTO_CACHE"):
        builds.folder("race", ["x"], lambda f: None)


def _entry(number: int, size: int, age: float) -> Path:
    folder, _ = builds.folder("race", [str(number)], lambda f: (f / "data").write_bytes(bytes(size)) and None)
    when = time.time() - age
    os.utime(folder, (when, when))
    return folder


def test_the_longest_unused_goes_first_and_what_is_in_use_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    oldest, older, hot = _entry(0, 40_000, 9000), _entry(1, 40_000, 8000), _entry(2, 40_000, 10)
    builds.folder("race", ["0"], lambda f: None)  # a hit makes it the newest
    monkeypatch.setenv("XPTO_CACHE_SIZE", "100K")
    newest = _entry(3, 1_000, 0)
    assert not older.exists() and oldest.exists() and hot.exists() and newest.exists()
    monkeypatch.setenv("XPTO_CACHE_SIZE", "1K")
    _entry(4, 1_000, 0)
    assert oldest.exists() and hot.exists()  # over the size, but used within the last minutes
    assert cache.trim(most=0, grace=0) and cache.entries() == []


@pytest.mark.parametrize("text, size", [("800M", 800 << 20), ("4G", 4 << 30), ("12345", 12345), ("1 TiB", 1 << 40), ("2kb", 2048)])
def test_sizes(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPTO_CACHE_SIZE", text)
    assert cache.limit() == size


def test_a_size_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPTO_CACHE_SIZE", "plenty")
    with pytest.raises(PtoError, match="such as 800M"):
        cache.limit()


def test_a_failed_build_leaves_nothing(own_cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise RuntimeError("compiler")
    with pytest.raises(RuntimeError):
        builds.folder("race", ["x"], fail)
    assert list((own_cache / "race").iterdir()) == []


def test_the_folder_of_a_variant_holds_everything_and_is_found_again(own_cache: Path) -> None:
    made = support.kernel().compile()
    assert made.ok
    files = made.artefacts()
    assert {"source.py", "pipeline_generated.py", "kernel.cpp", "call_kernel.cpp", "build_command.txt", "launch_args.json", "report.json", "kernel.ir"} <= set(files)
    assert made.generated == Path(files["pipeline_generated.py"]).read_text()
    assert made.folder == str(Path(files["kernel.cpp"]).parent)
    again = support.kernel().compile(preload=1)
    assert again.folder != made.folder
    library = own_cache / "npu" / "build"
    library.mkdir(parents=True)
    (library / "call_kernel.so").write_text("")
    from xpto import artefacts
    artefacts.link(made, "npu", library)
    artefacts.link(made, "npu", library)
    assert made.artefacts()["npu/call_kernel.so"] == str(Path(made.folder) / "libraries/npu/call_kernel.so")


def test_the_command(own_cache: Path) -> None:
    def run(*words: str) -> str:
        return subprocess.run([sys.executable, "-c", "import sys; from xpto.cli import main; sys.exit(main(sys.argv[1:]))", "cache", *words],
                              capture_output=True, text=True, check=True, timeout=60).stdout
    assert run("path").strip() == str(own_cache)
    assert "0 entries" in run()
    support.kernel().compile().folder
    listed = run("list")
    assert "1 entries" in listed and "relu_matmul for ascend950" in listed
    import json
    assert len(json.loads(run("list", "--json"))["entries"]) == 1
    assert "removed 1 entries" in run("clear") and cache.entries() == []
