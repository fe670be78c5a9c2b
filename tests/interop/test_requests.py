"""One tree of agents sends the same requests to its models on the embedded runtime and on google-adk, except for listed differences."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.interop.google_adk import adk_1_python, adk_python
from tests.interop.request_differences import DIFFERENCES, NEW, OLD, PLAN_TOPICS, SUMMARY_TOPICS, TOPICS

PROGRAM = Path(__file__).parent / "requests" / "main.py"
ROOT = Path(__file__).resolve().parents[2]


@cache
def requests_of(version: str) -> list[Any]:
    """Return the requests of google-adk's version, or of ours (`runtime`)."""
    code, python = PROGRAM.read_text("utf-8"), {OLD: adk_1_python, NEW: adk_python}.get(version, lambda: sys.executable)()
    code = code.replace("google.adk", "runtime") if version == "runtime" else code
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([python, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr[-4000:]
    (result,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    found: list[Any] = json.loads(result.removeprefix("RESULT"))
    return found


def differing(theirs: Any, ours: Any, place: str = "") -> Iterator[str]:
    """Yield the places where two JSON values differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs.keys() | ours.keys():
            if key in theirs and key in ours:
                yield from differing(theirs[key], ours[key], f"{place}.{key}")
            else:
                yield f"{place}.{key}"
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (their, our) in enumerate(zip(theirs, ours, strict=True)):
            yield from differing(their, our, f"{place}[{index}]")
    elif theirs != ours:
        yield place


def topics(instruction: str, which: int, wanted: dict[str, tuple[str, str]] = TOPICS) -> list[str]:
    found = {name: re.search(words[which], " ".join(instruction.split())) for name, words in wanted.items()}
    return sorted((name for name, match in found.items() if match), key=lambda name: found[name].start())  # type: ignore[union-attr]


@pytest.mark.rule("R11")
@pytest.mark.parametrize("version", [OLD, NEW])
def test_requests_differ_only_where_it_is_listed(version: str) -> None:
    theirs, ours = requests_of(version), requests_of("runtime")
    assert len(theirs) == len(ours) == 19
    places = sorted(differing(theirs, ours))
    listed = [pattern for pattern, (versions, _) in DIFFERENCES.items() if version in versions]
    assert [place for place in places if not any(re.search(pattern, place) for pattern in listed)] == []
    assert [pattern for pattern in listed if not any(re.search(pattern, place) for place in places)] == []


@pytest.mark.rule("R11")
@pytest.mark.parametrize("version", [OLD, NEW])
def test_instructions_tell_of_the_same_in_the_same_order(version: str) -> None:
    told = []
    for which, requests in ((1, requests_of(version)), (0, requests_of("runtime"))):
        told.append([topics(request["config"].get("system_instruction", ""), which) for request in requests])
    assert told[0] == told[1]
    assert {name for topic in told[1] for name in topic} == set(TOPICS)


@pytest.mark.rule("R11")
@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_planner_asks_for_the_same_in_the_same_order(version: str) -> None:
    theirs, ours = (requests[14]["config"]["system_instruction"] for requests in (requests_of(version), requests_of("runtime")))
    assert topics(theirs, 1, PLAN_TOPICS) == topics(ours, 0, PLAN_TOPICS) == list(PLAN_TOPICS)


@pytest.mark.rule("R11")
def test_a_summary_is_asked_for_with_the_same_points() -> None:
    theirs, ours = (requests[16]["contents"][0]["parts"][0]["text"] for requests in (requests_of(NEW), requests_of("runtime")))
    assert set(topics(theirs, 1, SUMMARY_TOPICS)) == set(topics(ours, 0, SUMMARY_TOPICS)) == set(SUMMARY_TOPICS)
