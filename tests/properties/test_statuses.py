"""The status of an invocation says what resuming it does, whichever agents ran, wherever the run stopped, and however it was answered."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from runtime.events import Event
from runtime.history.invocations import Invocation, invocations
from runtime.storage.reading.reader import StoredDatabase
from tests.answered_trees import Attempt, open_calls, stopped_runs
from tests.crash.trees import Spec
from tests.fixture_paths import fixtures_dir
from tests.resumable_fixtures import resumable_before
from tests.sweep import count


async def law(spec: Spec, events: Sequence[Event], *, by_google: bool = False) -> Invocation:
    """Check that the status of the last run, which was stopped after these events, says what the library does.

    Args:
        spec: the agents.
        events: the session's events.
        by_google: whether google-adk wrote them. Version 2 commits an agent's end before the agent that it transfers to runs, so that the
            library commits the end again, after the other one's.
    """
    found = invocations(events)[-1]
    waits = open_calls([event for event in events if event.invocation_id == found.invocation_id])
    resumed = Attempt(spec)
    await resumed.begin_with(events)
    yielded = await resumed.run(invocation_id=found.invocation_id)
    works = bool(resumed.effects) or any(event.content or not event.actions.end_of_agent for event in yielded)
    if found.status == "finished":
        assert not works, f"{found.reason}, but it continues"
        # From the events alone, an answer is not told apart from one in an app that is not resumable, whose agents record no end.
        assert not yielded or by_google or found.reason == "the agent answered"
    elif found.status == "paused":
        assert {item.call_id for item in found.pending} == {call.id for call in waits}
        assert waits
    else:
        assert found.status == "interrupted"
        assert not waits
        assert yielded or resumed.effects, f"{found.reason}, but nothing is left to do"
    return found


@pytest.mark.rule("C1", "C8", "C9", "I3")
@pytest.mark.sweep
@pytest.mark.timeout(7200)
async def test_the_status_says_what_the_library_does() -> None:
    trees, stops = count(quick=60, full=3_000), count(quick=4, full=1_000)
    seen: Counter[str] = Counter()
    for seed in range(trees):
        for where, spec, events in await stopped_runs(seed, stops):
            try:
                seen[(await law(spec, events)).status] += 1
            except Exception as problem:
                raise AssertionError(f"{where}: {problem}\n{spec}") from problem
    sys.stderr.write(f"{trees} trees, {sum(seen.values())} stops: {dict(seen)}\n")
    assert min(seen["finished"], seen["paused"], seen["interrupted"]) > trees / 4


@pytest.mark.rule("C9", "I3")
@pytest.mark.sweep
@pytest.mark.timeout(7200)
async def test_the_status_of_google_adks_runs_says_what_the_library_does() -> None:
    entries = [entry for pair in resumable_before() for entry in pair]
    seen: Counter[str] = Counter()
    tried = random.Random(6).sample(entries, count(quick=16, full=len(entries)))
    for entry in tried:
        (app,) = entry["apps"].values()
        with StoredDatabase.open(str(fixtures_dir() / "open" / entry["file"])) as database:
            (session,) = database.sessions()
            events = database.events(session.key)
        for kept in range(1, len(events) + 1):
            last = [event for event in events[:kept] if event.invocation_id == events[kept - 1].invocation_id]
            if all(event.author != "user" for event in last):
                continue  # its message is not stored, so that nothing can resume it: the doctor says so
            try:
                seen[(await law(app["agent"], events[:kept], by_google=True)).status] += 1
            except Exception as problem:
                raise AssertionError(f"{entry['name']} after {kept} events: {problem}") from problem
    sys.stderr.write(f"{len(tried)} databases: {dict(seen)}\n")
