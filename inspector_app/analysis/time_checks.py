"""Steps that take most of an invocation's time."""

from __future__ import annotations

from collections.abc import Iterator

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.documents.recorded_spans import with_recorded_times
from inspector_app.presentation.spans import MODEL, activity
from inspector_app.presentation.time_scale import joined
from inspector_app.presentation.values import visible

LONG = 10.0  # seconds of an invocation; a shorter one is no wait
_KIND = "slow step"


def slow_steps(facts: SessionFacts) -> Iterator[Finding]:
    """Find model and tool calls that take more than half of an invocation.

    The time in which an invocation waited for a person is not part of it. Only recorded times tell: google-adk stores when a model's call
    began, not when it ended, and no event tells how long a killed run was not continued.
    """
    if not facts.recorded.models and not facts.recorded.tools:
        return
    for events in facts.standing:
        calls = [span for span in with_recorded_times(activity(events), facts.recorded, [events[0].invocation_id]).calls if span.exact]
        if not calls:
            continue
        busy = sum(end - begin for begin, end in joined((span.start, span.end or span.start) for span in calls))
        longest = max(calls, key=lambda span: (span.end or span.start) - span.start)
        seconds = (longest.end or longest.start) - longest.start
        if busy < LONG or 2 * seconds <= busy or len(calls) == 1:
            continue
        index = longest.last if longest.last is not None else longest.index
        what = f"The model call of {visible(longest.author)}" if longest.name == MODEL else f"The tool {visible(longest.name)}"
        yield facts.finding(
            _KIND,
            "note",
            events[index].id if index is not None else events[-1].id,
            f"{what} took {seconds:.1f} of the {busy:.1f} seconds in which this invocation worked.",
            "The other calls together took less.",
            "Make this one faster first: a smaller model or request, or a tool that returns early and is long-running.",
        )
