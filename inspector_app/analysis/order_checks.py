"""Events that google-adk reads in another order than they were committed in, and clocks that step back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from runtime.events.marks import REQUEST_CALLS

_STEP = 1.0  # seconds; smaller steps back come from events that carry the time at which their call began
_FOLD = 20 * 60.0  # seconds; a time zone changes by half an hour or more, and the events are some minutes apart


def wrong_order(facts: SessionFacts) -> Iterator[Finding]:
    """Find events whose order by time, in which google-adk reads them, makes no sense: a result before its call, or turns swapped."""
    times = [row.time for row in facts.rows]
    if len(times) != len(facts.events) or any(time is None for time in times):
        return
    read = sorted(range(len(times)), key=lambda place: (times[place], place))
    places = {committed: place for place, committed in enumerate(read)}
    swapped = [*_swapped(facts, places)]
    for place, why in swapped:
        yield facts.finding(
            "event out of order",
            "error",
            facts.events[place].id,
            f"By its stored time, {_time(times[place])}, google-adk reads this event {why}.",
            "google-adk sorts events by time: it sends the model a conversation in another order, and may resume at the wrong place.",
            "Copy the database: the copy has times in the order of the commits.",
            facts.convert(),
        )
    tied = [place for place, (one, other) in enumerate(pairwise(times), 1) if one == other]
    if tied and not swapped:
        by_rowid = facts.layout == "sqlite"
        yield facts.finding(
            "event out of order",
            "note" if by_rowid else "warning",
            facts.events[tied[0]].id,
            f"{'This event has' if len(tied) == 1 else f'{len(tied):,} events have'} the same stored time as the one before.",
            "google-adk before 2.12 may read such events in reverse order; later versions read them in the order of the commits."
            if by_rowid
            else "google-adk up to 2.6 reads such events in reverse order; later versions sort them by their ids.",
            "Copy the database: the copy has distinct times in the order of the commits.",
            facts.convert(),
        )


def times_stepping_back(facts: SessionFacts) -> Iterator[Finding]:
    """Find events that are stored as earlier than their predecessors: a clock was set back, or local times were folded."""
    for place, seconds in _column_steps(facts):
        own = facts.events[place - 1].timestamp - facts.events[place].timestamp
        folded = facts.layout != "v0" and own < seconds - _FOLD
        cause = (
            "The writer stored local time, and its clock or its time zone changed here: summer time ended, or another version of"
            " google-adk, which stores UTC, continued."
            if folded or facts.layout == "v0"
            else "The writer's clock was set back."
        )
        yield facts.finding(
            "time steps back",
            "warning",
            facts.events[place].id,
            f"This event is stored {_duration(seconds)} before the previous one, which was committed earlier.",
            f"{cause} google-adk sorts events by this time.",
            "Copy the database: the copy has times in the order of the commits.",
            facts.convert(),
        )
    if facts.layout != "v0":  # there, an event's own time is the column
        yield from _own_steps(facts)


def _column_steps(facts: SessionFacts) -> Iterator[tuple[int, float]]:
    for place, (one, other) in enumerate(pairwise(facts.rows), 1):
        if one.time is not None and other.time is not None and one.time - other.time > _FOLD:
            yield place, one.time - other.time


def _own_steps(facts: SessionFacts) -> Iterator[Finding]:
    """Compare the events' own times on each branch of an invocation, and those of an invocation's first event with all before it."""
    columns = {place for place, _ in _column_steps(facts)}
    latest: dict[tuple[str, str | None], Any] = {}
    newest, seen = float("-inf"), set[str]()
    for place, event in enumerate(facts.events):
        line = (event.invocation_id, event.branch)
        before = latest.get(line)
        # The joint result of parallel calls has the first one's time, and a request to a person comes before it.
        request = before is not None and any(call.name in REQUEST_CALLS for call in before.get_function_calls())
        back = before.timestamp - event.timestamp if before is not None and not request else 0.0
        if event.invocation_id not in seen and event.author == "user" and seen:
            back = max(back, newest - event.timestamp)
        if back > _STEP and place not in columns and not event.actions.compaction:
            yield facts.finding(
                "time steps back",
                "warning",
                event.id,
                f"This event's time is {_duration(back)} before that of an event that was committed earlier.",
                "The clock was set back meanwhile, or two machines with different clocks wrote to this session: durations and the order"
                " by time are wrong here.",
                "Trust the order of the rows, not the times. Set the clocks of all machines by NTP.",
            )
        seen.add(event.invocation_id)
        latest[line] = event
        newest = max(newest, event.timestamp)


def _swapped(facts: SessionFacts, places: Mapping[int, int]) -> Iterator[tuple[int, str]]:
    calls: dict[str | None, int] = {}
    furthest = -1  # the last place of an event before this one
    starts: dict[str, int] = {}
    for place, event in enumerate(facts.events):
        start = starts.setdefault(event.invocation_id, place)
        call = next((calls[each.id] for each in event.get_function_responses() if each.id in calls), None)
        if call is not None and places[place] < places[call]:
            yield place, "before the call that it answers"
        elif facts.events[start].author == "user" and places[place] < places[start]:
            yield place, "before the message that it answers"
        elif start == place and places[place] < furthest:
            yield place, "before events of the turn that came before it"
        furthest = max(furthest, places[place])
        for each in event.get_function_calls():
            if each.id:
                calls.setdefault(each.id, place)


def _time(seconds: float | None) -> str:
    try:
        return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "outside the calendar"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 90 * 60 else f"{seconds / 3600:.1f} hours"
