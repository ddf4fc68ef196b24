"""How many generated forms compile against the user's PTO-ISA headers with our shim, and which do not."""
from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import BUILD, ROOT
from xpto import host_build, toolchain

sys.path.insert(0, str(ROOT / "tests/emit"))

MISSING = host_build.missing()
WRITE_ROWS = BUILD / "tests/unit/emit/write_rows"

# operation -> why a form of it has no host form
KNOWN = {
    "vf.load": "unaligned streams", "vf.store": "unaligned streams", "vf.load_unalign": "unaligned streams", "vf.load_unalign.carry_first": "unaligned streams",
    "vf.load_unalign_init": "unaligned streams", "vf.load_unalign_pre": "unaligned streams", "vf.store_unalign": "unaligned streams", "vf.store_unalign_post": "unaligned streams",
    "vf.unalign_reg_for_store": "unaligned streams", "vf.create_addr_reg": "address registers", "vf.load_align": "address registers, masks in memory",
    "vf.store_align": "address registers", "vf.store_align.mask": "masks in memory", "vf.store_unalign.mask": "unaligned streams", "vf.get_mask_spr": "special registers", "vf.clear_spr": "special registers",
    "vf.mask_gen_with_reg_tensor": "special registers", "vf.muls_cast": "conversion with a factor", "vf.mull": "64-bit products", "vf.interleave": "masks", "vf.de_interleave": "masks",
    "vf.pack": "masks", "vf.unpack": "masks", "vf.squeeze": "squeezing", "vf.unsqueeze": "squeezing", "vf.histograms": "histograms", "vf.astype": "4-bit values", "simt.launch": "SIMT",
    "dump_data": "the headers print tiles, not tensors", "gather.compare": "another argument list in the headers",
}


@pytest.mark.skipif(bool(MISSING), reason="host C++ is not compiled: " + "; ".join(MISSING))
@pytest.mark.skipif(not WRITE_ROWS.is_file(), reason=f"{WRITE_ROWS} was not built")
def test_forms_against_the_simulators_headers(tmp_path):
    import checking
    said = subprocess.run([WRITE_ROWS, tmp_path], check=True, capture_output=True, text=True).stdout
    listed = [line.split() for line in said.splitlines()]
    tree = toolchain.pto_isa()
    (tmp_path / "overlay").mkdir()
    host_build._overlay(tree.include, tmp_path / "overlay")
    flags = ["-w", "-D__CPU_SIM", "-fno-strict-aliasing", f"-I{host_build.shim_folder()}", f"-I{tmp_path / 'overlay'}", f"-I{tree.include}"]
    failed: dict[str, str] = {}
    for side, core in (("CUBE", "cube"), ("VEC", "vector")):
        kernels = [tmp_path / name / "kernel.cpp" for name, where, _, _ in listed if where == core]
        failed.update(checking.errors(tmp_path, kernels, side, flags, first='#include "xpto_host.hpp"\n'))
    row_of = {name: row for name, _, row, _ in listed}
    rows = {row for row in row_of.values()}
    compiled = {row for name, row in row_of.items() if name not in failed}
    print(f"{len(listed) - len(failed)} of {len(listed)} forms and {len(compiled)} of {len(rows)} operations compile against {tree}")
    unexpected = {row_of[n]: e for n, e in failed.items() if n in row_of and row_of[n] not in KNOWN}
    assert unexpected == {}
    assert len(failed) <= 43
