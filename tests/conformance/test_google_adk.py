"""google-adk's own services fail exactly the clauses that are listed as differences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.google_adk_differences import DIFFERENCES, NEW, OLD
from tests.interop.google_adk import adk_1_python, adk_python
from tests.sweep import count

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.sweep
@pytest.mark.parametrize("version", [NEW, OLD][: count(quick=1, full=2)])
def test_google_adk_fails_only_the_listed_clauses(version: str) -> None:
    python = adk_python() if version == NEW else adk_1_python()
    environment = {**os.environ, "INSPECTOR_CONFORMANCE_OF": "google.adk"}
    if Path("/dev/shm").is_dir():
        environment["TMPDIR"] = "/dev/shm"  # durability is not tested here, and a disk would take most of the time
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "tests.conformance", "--json"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 1, done.stderr[-4000:]
    results = json.loads(done.stdout)
    failed = {(result["backend"], result["clause"]): result["reason"] for result in results if result["outcome"] == "failed"}
    listed = [difference for difference in DIFFERENCES if any(of == version for of, _ in difference.services)]
    known = {(service, clause) for each in listed for of, service in each.services if of == version for clause in each.clauses}
    races = {(service, clause) for each in listed if each.is_a_race for _, service in each.services for clause in each.clauses}
    unknown = {each: reason for each, reason in failed.items() if each not in known}
    assert unknown == {}, "google-adk has a difference that is not listed"
    assert known - set(failed) - races == set(), "google-adk passes clauses that are listed as failing"
    counts = Counter(result["outcome"] for result in results)
    sys.stderr.write(f"google-adk {version}: {dict(counts)} of {len(results)}; every failure is listed with its reason\n")
