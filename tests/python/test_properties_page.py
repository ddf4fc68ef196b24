"""docs/model/numerics.md says something about every operation that moves or makes numbers."""
from __future__ import annotations

import re

from support import ROOT

# nothing is computed by these: descriptors, synchronisation, printing
SILENT = {"set_stride", "set_validshape", "set_vec_mask", "set_mask_count", "set_mask_norm", "reset_mask", "simt.launch"}


def test_every_operation_has_a_line() -> None:
    section, names = "", set()
    for line in (ROOT / "docs/language.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        found = re.match(r"#### `(?:pl|vf)\.([\w.]+)\(", line)
        if found and section in ("Data movement", "Matrix unit", "Vector work on tiles", "Vector functions"):
            names.add(found[1].removeprefix("vf."))
    assert len(names) > 120
    page = (ROOT / "docs/model/numerics.md").read_text(encoding="utf-8").split("## N9.")[1]
    said = set(re.findall(r"[\w.]+", page))
    missing = sorted(n for n in names - SILENT if n not in said)
    assert not missing, f"numerics.md N9 says nothing about {', '.join(missing)}"
