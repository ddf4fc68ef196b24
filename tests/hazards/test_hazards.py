"""None missed, none false: every known-bad kernel is found in every order, every repaired one is clean in every order."""
from __future__ import annotations

from collections import Counter

import pytest
import suite

CASES = suite.cases()
BAD = [c for c in CASES if c.finds]
CLEAN = [(c, suite.repaired(c, edits), why) for c in CASES for why, edits in c.repairs] + [(c, c.source, "as it stands") for c in CASES if not c.finds]
KINDS = ["race", "hang", "flag", "counter", "unit_flag", "mutex", "uninitialised", "range", "leftover"]


@pytest.mark.parametrize("case", BAD, ids=lambda c: c.name)
def test_bad(case):
    suite.check_bad(case)


@pytest.mark.parametrize("case, source, why", CLEAN, ids=lambda v: getattr(v, "name", None) or (v[:40] if isinstance(v, str) and "\n" not in v else ""))
def test_near_miss(case, source, why):
    suite.check_clean(case, source, why)


def test_every_kind_has_five_of_each(capsys):
    bad, clean = Counter(c.kind for c in BAD), Counter(c.kind for c, _, _ in CLEAN)
    with capsys.disabled():
        print("\n" + "\n".join(f"{kind:<14} {bad[kind]:>3} known bad  {clean[kind]:>3} near misses" for kind in KINDS))
    assert set(bad) | set(clean) == set(KINDS)
    assert all(bad[k] >= 5 and clean[k] >= 5 for k in KINDS)
