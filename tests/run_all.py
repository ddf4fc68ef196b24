"""Runs every suite, prints a short log and, as its last line, `N passed, N failed, N skipped` over all of them.

    run_all.py [SUITE ...] [--list]

Suites: `ctest` (C++), and each folder of tests/ that holds test_*.py. Exit code 1 when anything failed or nothing ran.
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
# what is quick and basic comes first, so that a broken base is seen first
ORDER = ["ctest", "python", "cli", "protocol", "notebooks", "browser"]
LIMIT_SECONDS = 1200


@dataclass
class Tally:
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def suites() -> list[str]:
    found = ["ctest"] if (BUILD / "CTestTestfile.cmake").is_file() else []
    found += sorted({p.parent.name for p in (ROOT / "tests").glob("*/test_*.py")})
    return sorted(found, key=lambda s: (ORDER.index(s) if s in ORDER else len(ORDER), s))


def command(suite: str, report: Path) -> list[str]:
    if suite == "ctest":
        return ["ctest", "--test-dir", str(BUILD), "--output-junit", str(report), "--output-on-failure", "--no-tests=error",
                "--progress", "--timeout", "300", "-j2"]
    return [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning",
            f"--junitxml={report}", "--durations=3", str(ROOT / "tests" / suite)]


def run(suite: str) -> Tally:
    with tempfile.TemporaryDirectory(prefix="xpto-tests-") as folder:
        report = Path(folder) / "report.xml"
        env = {**os.environ, "XPTO_BUILD": str(BUILD), "PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            code = subprocess.run(command(suite, report), cwd=ROOT, env=env, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS).returncode
        except subprocess.TimeoutExpired:
            return Tally(failed=[f"{suite}: not finished after {LIMIT_SECONDS} s"])
        except OSError as e:
            return Tally(failed=[f"{suite}: {e}"])
        tally = read(suite, report) if report.is_file() else Tally(failed=[f"{suite}: no report (exit code {code})"])
    if code not in (0, 5) and not tally.failed:
        tally.failed.append(f"{suite}: exit code {code}")
    return tally


def read(suite: str, report: Path) -> Tally:
    tally = Tally()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{suite}: {case.get('classname', '')}.{case.get('name')}" if suite != "ctest" else f"ctest: {case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append(name)
        elif skip is not None or case.get("status") in ("notrun", "disabled"):
            reason = (skip.get("message") if skip is not None else "") or "no reason given"
            tally.skipped.append(f"{name}: {reason}")
        else:
            tally.passed += 1
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="*")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        print("\n".join(suites()))
        return 0
    unknown = set(args.suite) - set(suites())
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(suites())}")
    total = Tally()
    for suite in args.suite or suites():
        print(f"== {suite}", flush=True)
        begin = time.monotonic()
        tally = run(suite)
        print(f"== {suite}: {tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped "
              f"in {time.monotonic() - begin:.0f} s", flush=True)
        total.passed += tally.passed
        total.failed += tally.failed
        total.skipped += tally.skipped
    for line in total.skipped:
        print(f"skipped  {line}")
    for line in total.failed:
        print(f"FAILED   {line}")
    print(f"{total.passed} passed, {len(total.failed)} failed, {len(total.skipped)} skipped", flush=True)
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main())
