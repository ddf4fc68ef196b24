"""Files of profilers: tables, traces, and why a table is empty."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from xpto import msprof
from xpto.commands import profile as command
from xpto.errors import LaunchError

HEAD = "Name,Type,Duration(us),Block Dim,aic_mac_time(us),aic_mac_ratio,aic_mte2_time(us),aiv_vec_time(us)\n"


def kernel_details(folder: Path, rows: str) -> Path:
    (folder / "kernel_details.csv").write_text(HEAD + rows, encoding="utf-8")
    return folder


def trace(folder: Path, wrapped: bool = True) -> Path:
    events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "AIC"}}, {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "MTE2(AIC)"}},
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3, "args": {"name": "CUBE"}},
              {"ph": "X", "name": "TLOAD", "pid": 1, "tid": 2, "ts": 100.0, "dur": 2.5}, {"ph": "X", "name": "TMATMUL", "pid": 1, "tid": 3, "ts": 102.0, "dur": 4.0},
              {"ph": "X", "name": "TLOAD", "pid": 1, "tid": 2, "ts": 101.0, "dur": 1.0}, {"ph": "C", "name": "memory", "pid": 1, "ts": 1, "args": {"size": 1}}]
    file = folder / "trace_view.json"
    file.write_text(json.dumps({"traceEvents": events} if wrapped else events), encoding="utf-8")
    return file


def test_a_table_gives_medians_and_pipes(tmp_path):
    kernel_details(tmp_path, "add_1,AddKernel,12.5,8,0,0,9.0,3.5\nadd_1,AddKernel,10.5,8,0,0,8.0,3.0\nadd_1,AddKernel,11.5,8,0,0,8.5,3.0\nmul,Mul,1,1,0,0,0,1\n")
    text = msprof.report(msprof.read(tmp_path, "add"), predicted_us=9.75).text()
    assert "add_1  11.50 us (median of 3, 10.50 to 12.50), 8 blocks; predicted 9.75 us by the simulator" in text
    assert "AIC MTE2" in text and "busiest" in text and "mul " not in text


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_trace_becomes_our_timeline(tmp_path, wrapped):
    timeline = msprof.read(trace(tmp_path, wrapped)).timeline
    lanes = {(lane["core"], lane["pipe"]): lane for lane in timeline["lanes"]}
    assert set(lanes) == {("AIC", "MTE2"), ("AIC", "MTE2 (2)"), ("AIC", "M")}
    assert timeline["us"] == pytest.approx(6.0, abs=1e-3) and timeline["status"] == "MEASURED" and timeline["estimated"] == []
    begin, end = lanes[("AIC", "M")]["slices"][0][:2]
    assert (end - begin) / timeline["ticks_per_cycle"] / timeline["cycles_per_us"] == pytest.approx(4.0, abs=1e-3)
    assert sum(lanes[("AIC", "M")]["totals"].values()) == timeline["total"]


def test_a_trace_is_drawn(tmp_path):
    view = msprof.report(msprof.read(trace(tmp_path)))
    assert "MEASURED" in view.text() and "TMATMUL" in json.dumps(view.to_json()) and "svg" in view._repr_mimebundle_()["text/html"]


def test_an_empty_table_is_explained_by_the_schedule(tmp_path, capsys):
    kernel_details(tmp_path, "")
    assert command.main(["--import", str(tmp_path), "--schedule", "skip_first=5,warmup=1,active=2", "--steps", "3"]) == 0
    out = capsys.readouterr().out
    assert "kernel_details.csv has no rows" in out and "step 7 is the first it records, and the program took 3" in out and "at least 8 steps" in out
    assert command.main(["--import", str(tmp_path)]) == 0
    assert "--schedule" in capsys.readouterr().out


def test_the_json_is_as_its_schema_says(tmp_path, capsys):
    import jsonschema
    kernel_details(tmp_path, "add_1,AddKernel,12.5,8,0,0,9.0,3.5\n")
    trace(tmp_path)
    assert command.main(["--import", str(tmp_path), "--json"]) == 0
    schema = json.loads((Path(__file__).resolve().parents[2] / "share/xpto/schema/measured.schema.json").read_text())
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, schema)
    assert data["launches"][0]["pipes"]["AIC MTE2"] == 9.0 and data["timeline"] is not None


def test_a_schedule_that_records():
    assert msprof.Schedule(skip_first=5).recorded(3) == 0 and msprof.Schedule(skip_first=1, active=3).recorded(3) == 2
    assert msprof.Schedule.read("skip_first=1, active=3").explain(9) == "3 of 9 steps recorded"
    with pytest.raises(LaunchError, match="reads skip_first"):
        msprof.Schedule.read("first=5")


def test_the_performance_models_summary(tmp_path):
    (tmp_path / "mm_pipeline_summary.csv").write_text("op_name,core_id,unit,total_cycles,mte2_aic_cycles,cube_cycles,vec_cycles\nmm,0,AIC,3600,1800,900,0\n", encoding="utf-8")
    (row,) = msprof.read(tmp_path).launches
    assert row.us == pytest.approx(2.0) and row.pipes == {"AIC MTE2": 1.0, "AIC M": 0.5} and "model" in row.kind


def test_what_is_no_profile_is_refused(tmp_path, capsys):
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    assert command.main(["--import", str(tmp_path)]) == 1 and "no profiler's file" in capsys.readouterr().err
    assert command.main(["--import", str(tmp_path / "x.json")]) == 1 and "is no trace" in capsys.readouterr().err
    assert command.main([]) == 2
