"""State that was overwritten or cleared by mistake, that the events do not explain, and that has secrets."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.presentation.values import preview, visible
from runtime.events.marks import has_unreadable_actions
from runtime.history.explanation import Explanation, merge_patch
from runtime.history.key_writers import are_parallel
from runtime.history.turn_writes import lost_updates as find_lost_updates
from runtime.sessions.state import same_value, scope_of

if TYPE_CHECKING:
    from google.genai import types

_LONGEST = 60  # characters of a value in a sentence


def parallel_overwrites(facts: SessionFacts) -> Iterator[Finding]:
    """Find keys to which agents below one parallel agent wrote different values."""
    writes: dict[tuple[str, str], dict[str, tuple[str, Any]]] = {}
    reported: set[tuple[str, str]] = set()
    for event in facts.events:
        for key, value in event.actions.state_delta.items() if event.branch else ():
            place = (event.invocation_id, key)
            others = writes.setdefault(place, {})
            for branch, (author, earlier) in others.items():
                if place in reported or not _are_siblings(branch, event.branch) or same_value(earlier, value):
                    continue
                reported.add(place)
                yield facts.finding(
                    "parallel overwrite",
                    "warning",
                    event.id,
                    f"{visible(event.author)} wrote {visible(key)} = {preview(value, _LONGEST)}, over {preview(earlier, _LONGEST)} by"
                    f" {visible(author)}, which runs in parallel.",
                    "The last of them wins, so the value may be another one in the next run, and the earlier one is lost.",
                    "Let each parallel agent write a key of its own, and join them in the agent that follows.",
                )
            others[event.branch or ""] = (event.author, value)


def lost_updates(facts: SessionFacts) -> Iterator[Finding]:
    """Find lists that lack what calls of one turn added to them, as the calls did not see each other's writes."""
    for update in find_lost_updates(facts.events, facts.first_state):
        yield facts.finding(
            "lost update",
            "warning",
            update.event_id,
            f"{visible(update.key)} has what {_calls(update.kept)} added, and not what {_calls(update.lost)} of the same turn did.",
            "Calls of one turn run at the same time: each read the list before the others wrote it, and the last write won.",
            "Read and write the key without an await in between, or let each call write a key of its own.",
        )


def cleared_by_rewinds(facts: SessionFacts) -> Iterator[Finding]:
    """Find keys that a rewind of google-adk set to null though they had a value before: those that were set when the session was created.

    google-adk restores the state from the events, and no event has these keys.
    """
    start = {event.invocation_id: place for place, event in reversed([*enumerate(facts.events)])}
    first = None if facts.first_state is None else {key for key, value in facts.first_state.items() if value is not None}
    writes: dict[str, list[int]] = {}
    nulls: set[str] = set()
    for place, event in enumerate(facts.events):
        delta = {key: value for key, value in event.actions.state_delta.items() if scope_of(key) == "session"}
        if target := event.actions.rewind_before_invocation_id:
            before = start.get(target, place)
            # Without a record, a key that an event wrote later may be new since then.
            kept = [key for key in delta if not (any(at < before for at in writes.get(key, ())) if first else writes.get(key))]
            lost = sorted(key for key in kept if delta[key] is None and key not in nulls and (first is None or key in first))
            if lost:
                yield _cleared(facts, event.id, lost)
        nulls = {*nulls.difference(delta), *(key for key, value in delta.items() if value is None)}
        for key in delta:
            writes.setdefault(key, []).append(place)


def _cleared(facts: SessionFacts, event_id: str, keys: Sequence[str]) -> Finding:
    names, state = visible(", ".join(keys)), facts.state or {}
    is_set_again = all(state.get(key) is not None for key in keys)
    return facts.finding(
        "cleared by a rewind",
        "note" if is_set_again else "warning" if facts.first_state is None else "error",
        event_id,
        f"The rewind set {names} to null, which the session was created with.",
        "A rewind of google-adk restores only what events wrote.",
        "It was set again since." if is_set_again else "Set it again in the window's state pane, or with the state_delta of the next run.",
    )


def _calls(calls: Sequence[types.FunctionCall]) -> str:
    tools: dict[str, list[str]] = {}  # by their arguments: which of them made an addition is not known
    for call in calls:
        tools.setdefault(preview(call.args, _LONGEST)[1:-1], []).append(call.name or "?")
    return visible(" and ".join(f"{' or '.join(names)}({args})" for args, names in tools.items()))


def unexplained_state(facts: SessionFacts) -> Iterator[Finding]:
    """Find the session's own keys whose stored value is not what the events' deltas give.

    LangGraph's reducers are code, so what tasks wrote since its last checkpoint does not give the next values.
    """
    if facts.state is None or facts.layout == "langgraph" or any(map(has_unreadable_actions, facts.events)):
        return
    explanation, writers, last = Explanation(), dict[str, str](), dict[str, Any]()
    own = {key: value for key, value in facts.state.items() if scope_of(key) == "session"}
    if facts.first_state is not None:
        explanation.add({key: value for key, value in facts.first_state.items() if scope_of(key) == "session"})
    for event in facts.events:
        delta = {key: value for key, value in event.actions.state_delta.items() if scope_of(key) == "session"}
        explanation.add(delta)
        last.update(delta)
        writers.update(dict.fromkeys(delta, event.id))
    _, wrong = explanation.result(own)
    extra = set(own) - set(explanation.keys) if facts.first_state is not None else set()
    for key in sorted(wrong | extra):
        if key in own and is_merged(facts.layout, own[key], last.get(key)):
            continue
        stored = preview(own[key], _LONGEST) if key in own else "missing"
        yield facts.finding(
            "state differs",
            "error",
            writers.get(key),
            f"The stored value of {visible(key)} is {stored}, and the events do not give it.",
            "Something wrote to the state without an event, or changed the events: the state at earlier events cannot be trusted.",
            "Find the program that writes to the tables itself. Setting the key in the window's state pane commits an event again.",
        )


def is_merged(layout: str, stored: Any, last: Any) -> bool:
    """Return whether a stored value may be what a merge patch made of a value that was not recorded.

    adk web's layout was written by merge patches up to google-adk 2.7.

    Args:
        layout: the layout's short name.
        stored: the stored value.
        last: the last value that an event wrote.
    """
    return layout == "sqlite" and isinstance(last, dict) and same_value(merge_patch(stored, last), stored)


def secrets(facts: SessionFacts) -> Iterator[Finding]:
    """Find what looks like a password, a key or a token in the state. The value itself is not displayed."""
    writers = {key: event.id for event in facts.events for key in event.actions.state_delta}
    yield from (
        facts.finding("secret in state", "warning", writers.get(key), *secret_sentences(key))
        for key in keys_with_secrets({key: value for key, value in (facts.state or {}).items() if scope_of(key) == "session"})
    )


def secret_sentences(key: str) -> tuple[str, str, str]:
    """Return what, why and advice about a secret in a key."""
    return (
        f"{visible(key)} seems to hold a password, a key or a token.",
        "Everyone who can read the database can read it, and it is sent to the model if an instruction names the key.",
        "Keep it in the environment or a secret store, replace it there, and set the key to null here.",
    )


def keys_with_secrets(state: Mapping[str, Any]) -> list[str]:
    """Return the keys of a state whose name or value looks like a secret."""
    # One file that users copy beside their apps, so it is a resource and not a module of this package.
    redacted: Callable[[Any], Any] = importlib.import_module("inspector_app.resources.plugins.recorder_plugin").redacted
    found = []
    for key, value in state.items():
        bare = key.partition(":")[2] if scope_of(key) in ("user", "app") else key
        if redacted({bare: value}) != {bare: value}:
            found.append(key)
    return found


def _are_siblings(branch: str, other: str | None) -> bool:
    """Return whether two branches lie below one parallel agent: they part after a common beginning."""
    return are_parallel(branch, other) and branch.split(".")[0] == (other or "").split(".")[0]
