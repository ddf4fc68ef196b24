"""Tiling keys and releases: packing, what is legal, the package's tree, manifests, and objects where a compiler is."""
from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import checking
import support
from xpto import release, tiling_keys
from xpto.errors import LaunchError, PtoError

SOURCE = '''
from __future__ import annotations
from dataclasses import dataclass
import pypto_pro.language as pl

@dataclass
class BlockPlan:
    rows: int
    scale: float
    last: bool
    offs: int[4]

class Key:
    MASK = pl.TilingKeyField(bits=1, values=[0, 1])
    BASE = pl.TilingKeyField(bits=3, values=[64, 128, 256])
    def is_valid(self, key):
        mask, base = key
        return not (mask and base == 64)

@pl.jit(tiling_key=Key)
def scaled(x: pl.Tensor[[pl.DYNAMIC, 64], pl.DT_FP32], y: pl.Tensor[[pl.DYNAMIC, 64], pl.DT_FP32], space: pl.Ptr[pl.DT_FP32], plan: BlockPlan):
    with pl.section_vector():
        t = pl.make_tile_group(type=pl.TileType([16, 64], pl.DT_FP32, target_memory=pl.MemorySpace.Vec), addrs=[FIRST, FIRST + 4096], mutex_ids=[0, 1])
        for i in pl.range(0, BASE // 64):
            a = t.next()
            pl.load(a, x, [i * 16, 0])
            pl.mul(a, a, plan.scale)
            if MASK == 1:
                pl.add(a, a, 1.0)
            pl.store(y, a, [i * 16, 0])
'''.replace("FIRST", "64")


_loaded = 0


def load(folder: Path, source: str) -> dict:
    """A file of its own as a module: postponed annotations are looked up in it."""
    global _loaded
    _loaded += 1
    path = folder / f"release_source_{_loaded}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return vars(module)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return load(tmp_path_factory.mktemp("source"), SOURCE)


def test_packing_is_by_index_from_bit_zero(space: dict) -> None:
    key = space["Key"]
    assert tiling_keys.packed(key, {"MASK": 1, "BASE": 256}) == 1 | 2 << 1
    for number in range(6):
        if number >> 1 < 3:
            assert tiling_keys.packed(key, tiling_keys.unpacked(key, number)) == number
    with pytest.raises(PtoError, match="not an index 3"):
        tiling_keys.unpacked(key, 3 << 1)
    with pytest.raises(PtoError, match="have 4 bits"):
        tiling_keys.unpacked(key, 1 << 4)


def test_legal_keys_in_class_order_last_field_fastest(space: dict) -> None:
    legal, refused = tiling_keys.split(space["Key"])
    assert [tuple(k.values()) for k in legal] == [(0, 64), (0, 128), (0, 256), (1, 128), (1, 256)]
    assert refused == [{"MASK": 1, "BASE": 64}]
    assert space["scaled"].variants() == legal


def test_a_launch_checks_the_key(space: dict) -> None:
    import numpy as np
    x = np.zeros((64, 64), dtype=np.float32)
    plan = space["BlockPlan"](1, 2.0, True, [0, 0, 0, 0])
    with pytest.raises(LaunchError, match="is_valid refuses"):
        space["scaled"][None, 1, {"MASK": 1, "BASE": 64}](x, x.copy(), x, plan)
    with pytest.raises(LaunchError, match="BASE=65 is not among"):
        space["scaled"][None, 1, {"MASK": 1, "BASE": 65}](x, x.copy(), x, plan)
    with pytest.raises(LaunchError, match="must name exactly"):
        space["scaled"][None, 1, {"MASK": 1}](x, x.copy(), x, plan)


def test_more_than_64_bits_are_refused_with_what_would_do() -> None:
    space = support.load("import pypto_pro.language as pl\nclass Wide:\n    A = pl.TilingKeyField(bits=40, values=[1, 2, 3])\n    B = pl.TilingKeyField(bits=25, values=[0])\n")
    with pytest.raises(PtoError, match=r"needs 65 bits.*A \(3 values: 2 bits\)"):
        tiling_keys.fields_of(space["Wide"])
    with pytest.raises(PtoError, match="has no TilingKeyField"):
        tiling_keys.fields_of(type("Empty", (), {}))


@pytest.fixture(scope="module")
def package(space: dict, tmp_path_factory: pytest.TempPathFactory) -> release.Release:
    return release.make(space["scaled"], tmp_path_factory.mktemp("package"))


def test_the_tree(package: release.Release) -> None:
    soc = package.soc
    (manifest,) = (package.folder / f"op_impl/ai_core/tbe/kernel/{soc}/scaled").glob("Scaled_*.json")
    expected = {"kernel_meta/build.sh", "kernel_meta/scaled.json", "kernel_meta/BlockPlan_tiling.h", "binary/BlockPlan_tiling.h", "binary/Key_tilingkey.h", "binary/kernel.cpp",
                "binary/scaled_pypto_infer.cpp", f"op_impl/ai_core/tbe/kernel/config/{soc}/scaled.json", f"op_impl/ai_core/tbe/kernel/config/{soc}/binary_info_config.json",
                f"op_impl/ai_core/tbe/config/{soc}/aic-{soc}-ops-info.json", str(manifest.relative_to(package.folder))}
    expected |= {f"kernel_meta/scaled_{n}_{kind}.cpp" for n in (0, 2, 3, 4, 5) for kind in ("impl", "kernel")}
    assert set(package.files) == expected == {str(p.relative_to(package.folder)) for p in package.folder.rglob("*") if p.is_file()}


def test_the_manifest(package: release.Release) -> None:
    (path,) = (package.folder / f"op_impl/ai_core/tbe/kernel/{package.soc}/scaled").glob("*.json")
    m = json.loads(path.read_text())
    assert m["binFileName"] == path.stem and m["binFileSuffix"] == ".o" and m["kernelName"] == "scaled" and m["magic"] == "RT_DEV_BINARY_MAGIC_ELF"
    assert [k["tilingKey"] for k in m["kernelList"]] == [0, 2, 4, 3, 5]
    assert m["kernelList"][0]["kernelName"] == f"{path.stem}_0" and m["kernelList"][0]["taskRation"] == "1:2" and m["taskRation"] == "tilingKey"
    assert m["opParaSize"] == 48 and m["blockDim"] == -1 and m["workspace"] == {"num": 1, "size": [-1], "type": [0]}  # 8 + 4 + 1, 3 to align, 4 * 8
    info = m["supportInfo"]
    assert [t["name"] for t in info["inputs"]] == ["x"] and [t["name"] for t in info["outputs"]] == ["y"]
    assert info["inputs"][0] == {"name": "x", "index": 0, "dtype": "float32", "format": "ND", "paramType": "required", "shape": [-2], "format_match_mode": "FormatAgnostic"}
    assert info["simplifiedKey"] == ["Scaled/d=0,p=0/0,2/0,2"] and info["opMode"] == "dynamic"
    listed = json.loads((package.folder / f"op_impl/ai_core/tbe/kernel/config/{package.soc}/binary_info_config.json").read_text())["Scaled"]["binaryList"][0]
    assert listed["binPath"] == f"{package.soc}/scaled/{path.stem}.o" and listed["simplifiedKey"] == info["simplifiedKey"]


@pytest.mark.skipif(not checking.COMPILER, reason="no C++ compiler (g++ or clang++) is on PATH")
def test_headers_and_wrappers_compile(package: release.Release, tmp_path: Path) -> None:
    """The wrapper of each key against the declared forms; the host's headers against a stand-in for the toolkit's macros."""
    for n in (0, 5):
        for side in ("CUBE", "VEC"):
            done = subprocess.run([checking.COMPILER, "-std=c++20", "-fsyntax-only", f"-D__DAV_{side}__", f"-DTILING_KEY_VAR={n}UL", f"-I{checking.DECLARED}",
                                   str(package.folder / f"kernel_meta/scaled_{n}_kernel.cpp")], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    (tmp_path / "ascendc/host_api/tiling").mkdir(parents=True)
    (tmp_path / "ascendc/host_api/tiling/template_argument.h").write_text(
        "#define ASCENDC_TPL_UI_LIST 0\n#define ASCENDC_TPL_UINT_DECL(name, bits, ...) Field{#name, bits, {__VA_ARGS__}}\n"
        "#define ASCENDC_TPL_ARGS_DECL(op, ...) static const Field fields[] = {__VA_ARGS__}\n#define ASCENDC_TPL_UINT_SEL(name, kind, value) value\n"
        "#define ASCENDC_TPL_ARGS_SEL(...) {__VA_ARGS__}\n#define ASCENDC_TPL_SEL(...) static const int keys[][2] = {__VA_ARGS__}\n"
        "struct Field { const char* name; int bits; int values[8]; };\n")
    (tmp_path / "use.cpp").write_text('#include <cstddef>\n#include "Key_tilingkey.h"\n#include "BlockPlan_tiling.h"\n'
                                      "static_assert(sizeof(BlockPlan) == 48 && offsetof(BlockPlan, scale) == 8 && offsetof(BlockPlan, last) == 12 && offsetof(BlockPlan, offs) == 16);\n"
                                      "static_assert(sizeof(keys) / sizeof(keys[0]) == 5 && ASCENDC_TPL_3_BW == 3);\nint main() { return fields[0].bits; }\n")
    done = subprocess.run([checking.COMPILER, "-std=c++17", "-fsyntax-only", f"-I{tmp_path}", f"-I{package.folder / 'binary'}", str(tmp_path / "use.cpp")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_a_compiler_the_missing_step_is_printed(package: release.Release) -> None:
    if not package.missing:
        pytest.skip("a device compiler is installed here: nothing is missing")
    text = package.text()
    assert "no objects were made here" in text and "build.sh" in text and "scaled_mix_aic_0.o" in text and "xpto release --seal" in text
    shell = (package.folder / "kernel_meta/build.sh").read_text()
    assert shell.count("bisheng -c") == 10 and "-DTILING_KEY_VAR=5UL" in shell and "-Dauto_gen_scaled_kernel=scaled_5_mix_aiv" in shell
    assert subprocess.run(["sh", "-n", str(package.folder / "kernel_meta/build.sh")]).returncode == 0


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A device compiler and linker of ours: they note their arguments and write an object of them."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("bisheng", "ld.lld"):
        (tools / tool).write_text(f'#!{sys.executable}\nimport sys, os\nif "--version" in sys.argv: print("stand-in 1"); sys.exit()\n'
                                  'if os.environ.get("STAND_IN_FAILS", "nothing of the kind") in " ".join(sys.argv): print("error: stand-in refuses"); sys.exit(1)\n'
                                  'open(sys.argv[sys.argv.index("-o") + 1], "w").write("\\n".join(sys.argv[1:]))\n')
        (tools / tool).chmod(0o755)
    home = tmp_path / "toolkit"
    (home / "include").mkdir(parents=True)
    import os
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", str(home))
    return home


def test_with_a_compiler_two_objects_a_key_and_a_fat_one(space: dict, toolkit: Path, tmp_path: Path) -> None:
    made = release.make(space["scaled"], tmp_path / "package")
    assert made.missing == [] and made.complete
    meta = tmp_path / "package/kernel_meta"
    objects = {f"scaled_mix_{side}_{n}.o" for n in (0, 2, 3, 4, 5) for side in ("aic", "aiv")}
    assert objects <= {p.name for p in meta.iterdir()}
    cube = (meta / "scaled_mix_aic_5.o").read_text().split("\n")
    assert "--cce-aicore-arch=dav-c310-cube" in cube and "-Dauto_gen_scaled_kernel=scaled_5_mix_aic" in cube and f"-I{toolkit}/include" in cube and "-shared" not in cube
    fat = (meta / "scaled.o").read_bytes()
    (path,) = (tmp_path / f"package/op_impl/ai_core/tbe/kernel/{made.soc}/scaled").glob("*.json")
    assert path.with_suffix(".o").read_bytes() == fat and json.loads(path.read_text())["sha256"] == hashlib.sha256(fat).hexdigest()


def test_a_compiler_that_refuses_is_quoted(space: dict, toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_FAILS", "scaled_3_kernel.cpp")
    with pytest.raises(PtoError, match="(?s)scaled_mix_ai._3.o: error: stand-in refuses"):
        release.make(space["scaled"], tmp_path / "package")


def test_keys_are_compiled_in_parallel_and_stand_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading
    from xpto import kernel as kernels
    kernel, alone = (load(tmp_path, SOURCE)["scaled"] for _ in range(2))
    make, both = kernels.OperatorKernel._make, threading.Barrier(2, timeout=20)
    waits = [0, 1]  # the first two compilations go on only when both are under way

    def meeting(*arguments):
        if waits:
            waits.pop()
            both.wait()
        return make(*arguments)
    monkeypatch.setattr(release.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(kernels.OperatorKernel, "_make", staticmethod(meeting))
    variants, invalid = release.compile_keys(kernel, None, None, "")
    monkeypatch.setattr(kernels.OperatorKernel, "_make", staticmethod(make))
    monkeypatch.setattr(release.os, "cpu_count", lambda: 1)
    expected, also_invalid = release.compile_keys(alone, None, None, "")
    assert [v.key for v in variants] == tiling_keys.split(kernel.options["tiling_key"])[0] == [v.key for v in expected] and invalid == also_invalid
    without_place = lambda v: v.emitted["files"]["call_kernel.cpp"]  # noqa: E731  the two files' names differ in the other text's comments
    assert [without_place(v) for v in variants] == [without_place(v) for v in expected] and not any(v.refused for v in variants)
    assert kernel.last is variants[-1].made


def test_a_tile_that_the_library_refuses_is_no_release(tmp_path: Path) -> None:
    kernel = load(tmp_path, SOURCE.replace("TileType([16, 64]", "TileType([16, 60]"))["scaled"]
    with pytest.raises(PtoError, match="t is 16 x 60 fp32: its rows have 240 bytes, and the card's library takes whole blocks of 32"):
        release.make(kernel, tmp_path / "out")


def test_a_refused_key_is_named_and_stops_no_other(tmp_path: Path) -> None:
    space = load(tmp_path, SOURCE.replace("            if MASK == 1:\n                pl.add(a, a, 1.0)", "            if MASK == 1:\n                pl.add(a, a, nothing)"))
    made = release.make(space["scaled"], tmp_path / "p")
    assert [v.number for v in made.refused] == [3, 5] and "nothing" in made.refused[0].refused
    assert "REFUSED  key 3 (MASK=1, BASE=128)" in made.text() and "3 of 5 keys" in made.text()
    assert (tmp_path / "p/kernel_meta/scaled_4_impl.cpp").is_file() and not (tmp_path / "p/kernel_meta/scaled_3_impl.cpp").exists()


def test_sizes_of_the_call_must_be_given(tmp_path: Path) -> None:
    source = SOURCE.replace("x: pl.Tensor[[pl.DYNAMIC, 64]", "x: pl.Tensor[[pl.STATIC, 64]")
    space = load(tmp_path, source)
    with pytest.raises(PtoError):
        release.make(space["scaled"], tmp_path / "a")
    made = release.make(load(tmp_path, source)["scaled"], tmp_path / "b", static_shapes=[[256, 64], []])
    assert not made.refused


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(SOURCE)

    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", "import sys; from xpto.cli import main; sys.exit(main(sys.argv[1:]))", "release", *words], capture_output=True, text=True, timeout=60)
    done = run(str(tmp_path / "k.py"), "-o", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["kernel"] == "scaled" and len(data["keys"]) == 5 and data["invalid_keys"] == [{"MASK": 1, "BASE": 64}]
    assert run(str(tmp_path / "k.py")).returncode == 2
    assert run(str(tmp_path / "none.py"), "-o", str(tmp_path / "out")).returncode == 2
    unsealed = run("--seal", str(tmp_path / "out"))
    assert unsealed.returncode == 1 and "run build.sh" in unsealed.stderr
