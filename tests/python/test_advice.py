"""What a pipelined kernel could be otherwise: the preload sweep, slots, ids, lists to drop or share. Case REJ-08 of the four-stage kernel."""
from __future__ import annotations

import json

import support
from xpto import cli

NAMES = (("    mm1 = pl.", "    mm1_vec = pl."), ("    p = pl.", "    p_mat = pl."), ("    out = pl.", "    out_vec = pl."),
         ("            stage1(ki, a, a_l1, b_l1, left, right, acc, mm1)", "            stage1(ki, a, a_l1, b_l1, left, right, acc, mm1_vec)"),
         ("            stage2(sub, mm1, relu, nz, p)", "            stage2(sub, mm1_vec, relu, nz, p_mat)"),
         ("            stage3(p, d_l1, left, right, acc, out)", "            stage3(p_mat, d_l1, left, right, acc, out_vec)"),
         ("            stage4(ki, sub, out, y)", "            stage4(ki, sub, out_vec, y)"))
THREE_SLOTS = (("addrs=0x8000, mutex_ids=[14, 15], fwd_ids=[4, 5], bwd_ids=[6, 7]", "addrs=0x20000, mutex_ids=[14, 15, 22], fwd_ids=[4, 5, 12], bwd_ids=[6, 7, 13]"),)


def advice(*more, **overrides):
    made = support.kernel(*NAMES, *more).compile(**overrides)
    return made, made.to_json()["advice"]


def by_preload(a):
    return {row["preload"]: row for row in a["sweep"]}


def needs(row):
    return {n["buffer"]: (n["has"], n["needs"]) for n in row["slots"]}


def test_two_slots_carry_preload_2_and_3_needs_three_slots_of_p_mat():
    made, a = advice(preload=2)
    assert made.ok and a["largest_preload"] == 2 and a["preload"] == [2]
    rows = by_preload(a)
    assert [rows[p]["accepted"] for p in range(5)] == [True, True, True, False, False]
    assert [rows[p]["ring_depths"] for p in range(5)] == [[1], [3], [4], [5], [6]]
    assert rows[2]["ids"] == 12 and needs(rows[2]) == {"mm1_vec": (2, 2), "p_mat": (2, 2), "out_vec": (2, 2)}
    assert rows[3]["code"] == "PTO-K41" and needs(rows[3])["p_mat"] == (2, 3) and "p_mat" in rows[3]["why"]
    assert needs(rows[4])["p_mat"] == (2, 4)


def test_a_refused_preload_is_advised_on_too():
    made, a = advice(preload=3)
    assert not made.ok and a["largest_preload"] == 2 and a["not_predicted"] == "the kernel was refused"
    text = made.view("advice").text()
    assert text.startswith("advice    largest safe preload 2; at 3 p_mat needs 3 slots (it has 2)\n")
    assert "<- this one" in next(line for line in text.splitlines() if line.startswith("3 "))


def test_with_three_slots_3_is_accepted_with_the_counts_of_the_case():
    made, a = advice(*THREE_SLOTS, preload=3)
    assert made.ok, made.text()
    loop = made.to_json()["loops"][0]
    assert (len(loop["sites"]), len(loop["prefire"]), len(loop["drain"])) == (12, 7, 7)
    assert a["largest_preload"] == 3 and by_preload(a)[3]["ids"] == 14


def test_cycles_fall_from_serial_and_are_an_upper_estimate_of_the_steady_pace():
    made, a = advice(preload=2)
    rows = by_preload(a)
    serial, deepest = rows[0]["cycles_per_task"][0], rows[2]["cycles_per_task"][0]
    assert serial > rows[1]["cycles_per_task"][0] >= deepest > 0
    steady = made.to_json()["predicted"].get("steady_cycles_per_task")
    assert steady is None or deepest >= 0.99 * steady
    assert rows[3]["cycles_per_task"] == [] and a["estimated"]


def test_sharing_says_what_it_saves_and_what_it_costs():
    _, a = advice(preload=2)
    assert {(s["buffer"], s["forward"]): (s["saves"], s["pending"]) for s in a["share"]} == {
        (b, f): (1, 2) for b in ("mm1_vec", "p_mat", "out_vec") for f in (True, False)}
    # and it is true: the shared list compiles, is proven, and holds that many
    made, shared = advice(("mutex_ids=[12, 13], fwd_ids=[0, 1]", "mutex_ids=[12, 13], fwd_ids=[0]"), preload=2)
    assert made.ok and by_preload(shared)[2]["ids"] == 11
    ids = {(i["id"], i["to"]): i["max_pending"] for i in made.to_json()["sync"]["ids"]} if "to" in made.to_json()["sync"]["ids"][0] else None
    assert ids is None or max(ids.values()) <= 2


def test_redundant_lists_can_go():
    """A forward-only middle channel with three slots: its way back is implied up to preload 2."""
    made, a = advice(*THREE_SLOTS, preload=2)
    assert made.ok
    for r in a["redundant"]:
        keyword = "fwd_ids" if r["forward"] else "bwd_ids"
        assert (r["buffer"], keyword) == ("p_mat", "bwd_ids")
    assert [r["buffer"] for r in a["redundant"]] == ["p_mat"]
    without, _ = advice(THREE_SLOTS[0], (", bwd_ids=[6, 7, 13]", ""), preload=2)
    assert without.ok, without.text()


def test_lists_that_can_go_can_go_together():
    """`out_vec` on the bytes of `mm1_vec`: what waits for the reuse orders all three ways back."""
    reuse = ("addrs=0x10000, mutex_ids=[16, 17], fwd_ids=[8, 9]", "addrs=0x0, mutex_ids=[12, 13], fwd_ids=[8, 9]")
    made, a = advice(reuse, preload=1)
    assert made.ok and a["largest_preload"] == 1 and by_preload(a)[2]["code"] == "PTO-K46"
    assert {(r["buffer"], r["forward"]) for r in a["redundant"]} == {(b, False) for b in ("mm1_vec", "p_mat", "out_vec")}
    without, _ = advice(reuse, (", bwd_ids=[2, 3]", ""), (", bwd_ids=[6, 7]", ""), (", bwd_ids=[10, 11]", ""), preload=1)
    assert without.ok and without.to_json()["sync"]["status"] == "proven"


def test_the_plan_view_and_the_command_line_show_it(tmp_path, capsys):
    made, a = advice(preload=2)
    sync = made.view("sync")
    assert "largest safe preload 2" in sync.text() and sync.to_json()["advice"] == a
    assert "largest safe preload 2" in sync._repr_mimebundle_()["text/html"]
    assert all(len(line) <= 100 for line in sync.text().splitlines())
    file = tmp_path / "k4.py"
    file.write_text(support.edited(*NAMES))
    assert cli.main(["compile", str(file), "--preload", "2", "--advice"]) == 0
    assert "advice    largest safe preload 2; at 3 p_mat needs 3 slots (it has 2)" in capsys.readouterr().out
    assert cli.main(["compile", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["advice"]["largest_preload"] == 2


def test_no_pipeline_no_advice():
    made = support.load(support.example_text("vector_add"))["vector_add"].compile()
    assert "advice" not in made.to_json()
    assert made.view("advice").text() == "no pipeline loop: no preload to advise on"
