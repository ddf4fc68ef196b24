"""xpto calibrate: a card's measurements become a chip that kernels run on; what cannot be used is refused with its line and value."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
EXAMPLE = ROOT / "share/xpto/examples/relu_matmul.py"


def xpto(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "JUPYTER_PATH")}
    return subprocess.run([str(BUILD / "bin/xpto"), *map(str, arguments)], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def test_measurements_become_a_chip(tmp_path: Path) -> None:
    # 40 + 3 cycles a block, half a per cent of noise; a constant measured three times; a clock.
    rows = [f"cube.fp32,{n},{(40 + 3 * n) * (1.005 if n % 2 else 0.995):.2f}" for n in (64, 129, 256, 513, 1024)]
    (tmp_path / "card.csv").write_text("# my card\nkey,units,cycles\n" + "\n".join(rows) + "\n\npath.gm_mat,16384,400\nconstant.launch_us,,2.5\n"
                                       "constant.launch_us,,2.1\nconstant.launch_us,,2.3\nchip.clock_mhz,,1500\n")
    done = xpto("calibrate", "card.csv", "-o", "card.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    chip = json.loads((tmp_path / "card.json").read_text())
    assert chip["name"] == "card" and chip["based_on"] == "ascend950pr" and chip["clock_mhz"] == 1500 and chip["constants"]["launch_us"]["value"] == 2.3
    matmul, load = chip["timing"]
    assert abs(matmul["startup"] - 40) < 3 and abs(float(matmul["per_unit"]) - 3) < 0.03 and matmul["unit"] == "16x16x1" and matmul["grade"] == "derived"
    assert load["per_unit"].startswith("1/") or "/" in load["per_unit"]  # one size: the start-up stays
    assert "one size only" in done.stdout
    # The chip is a target: matmuls that take three times as long take longer.
    mine = json.loads(xpto("profile", EXAMPLE, "--target", "card.json", "--json", cwd=tmp_path).stdout)
    built_in = json.loads(xpto("profile", EXAMPLE, "--target", "ascend950", "--json", cwd=tmp_path).stdout)
    assert mine["target"] == "card" and mine["cycles_per_us"] == 1500 and mine["total"] > built_in["total"]


@pytest.mark.parametrize("text, said", [
    ("", "the file is empty"),
    ("key,cycles\n", "no column 'units'"),
    ("key,units,cycles\n", "no measurements"),
    ("key,units,cycles\ncube.fp61,1,2\n", "line 2: no operation costs 'cube.fp61'; did you mean 'cube.fp16'?"),
    ("key,units,cycles\nvector.add,4,many\n", "line 2: cycles is 'many', not a number"),
    ("key,units,cycles\nvector.add,0,12\n", "line 2: units is 0, it must be above 0"),
    ("key,units,cycles\nvector.add,4,nan\n", "line 2: cycles is nan"),
    ("key,units,cycles\nvector.add,4\n", "line 2: 2 cells under 3 columns"),
    ("key,units,cycles\nvector.add,8,100\nvector.add,64,90\n", "does not take longer for more units"),
    ("key,units,cycles\nconstant.speed,,1\n", "line 2: no constant is called 'speed'"),
    ("key,units,cycles\nconstant.hbm_bytes_per_us,,0\n", "constants.hbm_bytes_per_us.value is not positive"),
    ("key,units,cycles\nchip.cube_cores,,100000\n", "cube_cores is 100000, outside 1 to 4096"),
])
def test_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    done = xpto("calibrate", "bad.csv", "-o", "bad.json", cwd=tmp_path)
    assert done.returncode == 1 and said in done.stderr, done.stderr + done.stdout
    assert not (tmp_path / "bad.json").exists()


def test_a_target_that_is_no_chip(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"schema": 1, "name": "b", "based_on": "ascend950pr", "cube_cores": -1}')
    for target, said in (("broken.json", "cube_cores is -1, outside 1 to 4096"), ("absent.json", "`absent.json` cannot be read")):
        done = xpto("profile", EXAMPLE, "--target", target, cwd=tmp_path)
        assert done.returncode == 1 and said in done.stderr, done.stderr
