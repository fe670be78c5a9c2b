"""The status of an invocation says what resuming it does, whichever agents ran, wherever the run stopped, and however it was answered."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from runtime.events import Event
from runtime.history.invocations import Invocation, invocations
from tests.answered_trees import Attempt, open_calls, stopped_runs
from tests.crash.trees import Spec
from tests.sweep import count


async def law(spec: Spec, events: Sequence[Event]) -> Invocation:
    """Check that the status of a run that was stopped after these events says what the library does."""
    (found,) = invocations(events)
    waits = open_calls(events)
    resumed = Attempt(spec)
    await resumed.begin_with(events)
    yielded = await resumed.run(invocation_id=events[0].invocation_id)
    works = bool(resumed.effects) or any(event.content or not event.actions.end_of_agent for event in yielded)
    if found.status == "finished":
        assert not works, f"{found.reason}, but it continues"
        # From the events alone, an answer is not told apart from one in an app that is not resumable, whose agents record no end.
        assert not yielded or found.reason == "the agent answered"
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
