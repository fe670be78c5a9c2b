"""Reading a damaged database never crashes or hangs, and fails only with our own errors."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.fixture_paths import fixtures_dir, manifest
from tests.go_databases import go_database
from tests.sweep import count

SECONDS_EACH = 2.0
BATCH = 500
LARGEST = 200_000


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Small databases of every layout."""
    folder = tmp_path / "good"
    folder.mkdir()
    taken: Counter[str] = Counter()
    for entry in manifest():
        file = fixtures_dir() / "open" / entry["file"]
        if file.stat().st_size <= LARGEST and taken[entry["layout"]] < 5 and "empty" not in file.name:
            taken[entry["layout"]] += 1
            shutil.copy(file, folder)
    for file in (*(fixtures_dir() / "hand").glob("*.db"), *(fixtures_dir() / "other-adks").glob("*.db")):
        if file.stat().st_size <= LARGEST:
            shutil.copy(file, folder)
    for camel in (False, True):
        go_database(folder / f"go-{camel}.db", camel=camel)
    return folder


@pytest.mark.sweep
def test_no_damaged_database_crashes_or_hangs_the_reader(good: Path) -> None:
    total = count(250, 100_000)
    ends: Counter[str] = Counter()
    slow: list[str] = []
    for first in range(0, total, BATCH):
        size = min(BATCH, total - first)
        program = [sys.executable, "-m", "tests.crash.reading_mutants", str(good), str(first), str(size)]
        done = subprocess.run(program, capture_output=True, text=True, timeout=SECONDS_EACH * size)
        lines = done.stdout.splitlines()
        assert done.returncode == 0, f"{lines[-1] if lines else ''}: {done.stderr[-3000:]}"
        for line in lines:
            word, number, *rest = line.split()
            if word == "end":
                ends[rest[0]] += 1
                if float(rest[1]) > SECONDS_EACH:
                    slow.append(number)
    assert sum(ends.values()) == total
    assert slow == []
    assert min(ends["read"], ends["refused"]) > total // 20, f"both outcomes must occur: {ends}"


@pytest.mark.sweep
def test_no_crafted_value_makes_a_command_print_a_traceback(good: Path) -> None:
    """Times, keys, states and fields of other types and sizes: see `value_mutants`."""
    total = count(25, 20_000)
    ends: Counter[str] = Counter()
    for first in range(0, total, BATCH):
        size = min(BATCH, total - first)
        program = [sys.executable, "-m", "tests.crash.value_mutants", str(good), str(first), str(size)]
        done = subprocess.run(program, capture_output=True, text=True, timeout=60 + SECONDS_EACH * size)
        assert done.returncode == 0 and done.stderr == "", done.stderr[-3000:]
        ends.update(line.split()[2] for line in done.stdout.splitlines() if line.startswith("end "))
    assert ends["read"] > total // 2 and ends["traceback"] == 0, ends
