"""Calls without results, results without calls, and calls that share an id."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.presentation.values import example_response, visible
from runtime.events.final_response import says_something
from runtime.events.marks import ASKING_CALLS, CALLED_WITHOUT_RESULT, REQUEST_CALLS
from runtime.history.invocations import PendingItem
from runtime.history.turns import requested_call_id
from runtime.support.file_names import free_name

if TYPE_CHECKING:
    from runtime.events import Event

_STALE_DAYS, _DAY = 7, 86_400  # seconds of a day
_NEEDED = {"confirmation": "a confirmation", "credential": "a credential"}


def unanswered_calls(facts: SessionFacts) -> Iterator[Finding]:
    """Find calls that have no result and were not taken back: those that wait for a person, and those that were cut off."""
    items: dict[str | None, PendingItem] = {
        item.call_id: item for each in facts.unfinished.values() for item in each.pending if item.call_id
    }
    waiting = set[str | None](items)
    responses = [response for event in facts.events for response in event.get_function_responses()]
    answered = {response.id for response in responses if response.id} - waiting
    without_id = {response.name for response in responses if not response.id}  # google-adk 1.0
    silent = {name for event in facts.events for name in (event.custom_metadata or {}).get(CALLED_WITHOUT_RESULT, ())}
    asked = _asked_about(facts, waiting)
    settled = answered | asked
    last = facts.events[-1].invocation_id if facts.events else None
    for event in facts.events:
        if event.invocation_id in facts.rewound:
            continue
        for call in event.get_function_calls():
            called_without = call.id in silent and call.id not in waiting
            if call.id in settled or called_without or (not call.id and call.name in without_id):
                continue
            item = items.get(call.id)
            name = visible((item and item.name) or call.name or "?")
            needed = _NEEDED.get(item.kind if item else "interrupted", "an answer from outside")
            interim = item is not None and item.so_far is not None
            can_resume = facts.writable and not facts.is_remote
            if call.id in waiting and event.invocation_id == last:
                days = int((time.time() - facts.events[-1].timestamp) / _DAY)
                is_stale = facts.layout == "langgraph" and days >= _STALE_DAYS
                yield facts.finding(
                    "stale interrupt" if is_stale else "unanswered call",
                    "warning" if is_stale else "note",
                    event.id,
                    f"{name} has waited for {needed} for {days:,} days." if is_stale else f"{name} waits for {needed}.",
                    "The agent has continued with the interim result."
                    if interim and _continues(facts, event)
                    else "The invocation is paused until it is answered.",
                    f"Answer it in the window under Pending{', or with this command for its AGENT' if can_resume else ''}."
                    if facts.writable
                    else "Only the program that wrote the database can take the answer.",
                    _resume(facts, item) if can_resume else None,
                )
            elif call.id in waiting:
                yield facts.finding(
                    "unanswered call",
                    "warning",
                    event.id,
                    f"{name} still waits for {needed}, and the conversation has gone on without it.",
                    "The model sees the interim result only."
                    if interim
                    else "The model sees a call that has no result. Some model APIs refuse such a conversation.",
                    "Answer it, or rewind to before the invocation that made the call.",
                )
            elif call.name not in ASKING_CALLS:
                resumes = event.invocation_id in facts.unfinished
                yield facts.finding(
                    "unanswered call",
                    "warning",
                    event.id,
                    f"{name} was called and its result was never committed.",
                    "The tool may have run before the run ended, and a resume calls it again."
                    if resumes
                    else "The tool may have run. google-adk 2.13 leaves such a call out of later requests; google-adk 1 sends it, and some "
                    "model APIs refuse that.",
                    "Check what the tool did before you resume." if resumes else "Fork the session before this event, and continue there.",
                    None if resumes or not facts.writable else _fork_before(facts, event.id),
                )


def orphan_responses(facts: SessionFacts) -> Iterator[Finding]:
    """Find results whose call is not in the session, or comes after them."""
    made: set[str | None] = set()
    later = {call.id for event in facts.events for call in event.get_function_calls()}
    for event in facts.events:
        for response in event.get_function_responses():
            if response.id is None or response.id in made or response.id == "":
                continue
            name, exists = visible(response.name or "?"), response.id in later
            yield facts.finding(
                "orphan response",
                "error",
                event.id,
                f"This is the result of a call of {name}, and that call {'comes later in' if exists else 'is not in'} the session.",
                "Models refuse a result without its call, and google-adk ends the run with an error when it finds one.",
                "Fork the session before this event, and continue there.",
                _fork_before(facts, event.id) if facts.writable else None,
            )
        made.update(call.id for call in event.get_function_calls())


def repeated_ids(facts: SessionFacts) -> Iterator[Finding]:
    """Find events, and calls of one session, that share an id."""
    events: dict[str, int] = {}
    calls: dict[str, str] = {}
    for place, event in enumerate(facts.events, 1):
        if event.id in events:
            yield facts.finding(
                "duplicate id",
                "error",
                event.id,
                f"Events {events[event.id]} and {place} have the same id.",
                "Forks, rewinds and links find an event by its id, and google-adk's own tables do not allow two.",
                "Find the program that wrote the second one. Reading is not affected.",
            )
        events.setdefault(event.id, place)
        for call in event.get_function_calls():
            if not call.id:
                continue
            if call.id in calls:
                yield facts.finding(
                    "duplicate id",
                    "warning",
                    event.id,
                    f"The call of {visible(call.name or '?')} has the id of an earlier call of {calls[call.id]}.",
                    "A result is matched with its call by the id, so it may be given to the wrong one.",
                    "Give every call an id of its own, or leave it empty: then google-adk makes one.",
                )
            calls.setdefault(call.id, visible(call.name or "?"))


def _continues(facts: SessionFacts, asking: Event) -> bool:
    """Return whether the agent has said something after the interim result of a call."""
    last = facts.by_invocation[asking.invocation_id][-1]
    return last.author != "user" and says_something(last.content) and not (last.get_function_calls() or last.get_function_responses())


def _asked_about(facts: SessionFacts, waiting: set[str | None]) -> set[str | None]:
    """Return the calls for which a confirmation or a credential is asked: the request is the open one."""
    calls = (call for event in facts.events for call in event.get_function_calls() if call.id in waiting and call.name in REQUEST_CALLS)
    return {requested_call_id(call) for call in calls}


def _fork_before(facts: SessionFacts, event_id: str) -> tuple[str, ...] | None:
    place = facts.places[event_id]
    if place == 0:
        return None
    before = facts.events[place - 1].id
    return "agent-inspector", "fork", facts.name, *facts.session_words, "--at", before, "--into", free_name()


def _resume(facts: SessionFacts, item: PendingItem | None) -> tuple[str, ...]:
    call = ("--call", item.call_id) if item is not None and item.call_id else ()
    response = example_response(item.kind if item is not None else "")
    return "agent-inspector", "resume", "AGENT", "--db", facts.name, *facts.session_words, *call, "--response", response
