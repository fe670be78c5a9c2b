"""Agents that do the same again, and runs that look alike and are well."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from inspector_app.analysis.doctor import examine
from runtime.storage.reading.reader import StoredDatabase
from tests.unit.inspector_app.analysis.v1_file import called, returned, said, write_v1

Events = list[dict[str, Any]]
HELLO, BYE = said("hello", "user"), said("bye")
USAGE = {"usage_metadata": {"prompt_token_count": 500_000, "candidates_token_count": 0}, "model_version": "gemini-2.5-flash"}


def found_in(file: Path) -> list[tuple[str, str, str | None]]:
    with StoredDatabase.open(str(file)) as database:
        found = list(examine(database, file.name))
    return [(finding.kind, finding.level, finding.event_id) for finding in found]


def turns(*results: dict[str, Any], name: str = "find", args: dict[str, Any] | None = None, **more: Any) -> Events:
    events: Events = []
    for number, result in enumerate(results):
        call = {"name": name, "args": {"q": "x"} if args is None else args | {"n": number}, "id": f"{name}{number}"}
        events.append({"content": {"role": "model", "parts": [{"function_call": call}]}, **more})
        response = {"id": call["id"], "name": name, "response": result}
        events.append({"content": {"role": "user", "parts": [{"function_response": response}]}, **more})
    return events


def handed(*agents: str) -> Events:
    events: Events = []
    for number, (one, other) in enumerate(pairwise(agents)):
        events.append(called("transfer_to_agent", f"t{number}", author=one))
        events.append(returned("transfer_to_agent", f"t{number}", author=one, actions={"transfer_to_agent": other}))
    return events


def looped(*rounds: Events) -> Events:
    events: Events = []
    for number, own in enumerate(rounds):
        state = {"current_sub_agent": "agent", "times_looped": number}
        events += [{"author": "loop", "actions": {"agent_state": state}}, *own]
    return [*events, {"author": "loop", "actions": {"end_of_agent": True}}]


SAME = {"hits": 1}
LEFT: dict[str, Any] = {"actions": {"escalate": True}}
PLANTED: dict[str, tuple[Events, tuple[str, str, str]]] = {
    "three calls": (turns(SAME, SAME, SAME), ("the same again", "warning", "e5")),
    "five calls": (turns(*[SAME] * 5), ("the same again", "warning", "e5")),
    "failing each time": (turns(*[{"error": "no"}] * 3), ("the same again", "warning", "e5")),
    "among other calls": (
        [*turns(SAME, SAME, SAME)[:4], *turns({}, name="look"), *turns(SAME, SAME, SAME)[4:]],
        ("the same again", "warning", "e7"),
    ),
    "three answers": ([said("not yet")] * 3, ("the same again", "warning", "e3")),
    "answers between others": (
        [event for word in "abc" for event in (said("not yet"), said(word, author="other"))],
        ("the same again", "warning", "e5"),
    ),
    "in turn": (handed("a", "b", "a", "b"), ("the same again", "warning", "e6")),
    "in turn after another": (handed("root", "a", "b", "a", "b"), ("the same again", "warning", "e8")),
    "loop": (looped([said("one")], [said("two")]), ("loop at its limit", "note", "e5")),
    "loop after a lost escalation": (looped([{**said("one"), **LEFT}], [said("two")]), ("loop at its limit", "note", "e5")),
}
CLEAN: dict[str, Events] = {
    "two calls": turns(SAME, SAME),
    "other arguments": turns(SAME, SAME, SAME, args={}),
    "progress": turns({"done": 1}, {"done": 1}, {"done": 1}, {"done": 2}),
    "what a call wrote": [{**event, "actions": {"state_delta": {"n": number}}} for number, event in enumerate(turns(*[{"ok": True}] * 3))],
    "other agents": [{**event, "author": f"agent{number // 2}"} for number, event in enumerate(turns(SAME, SAME, SAME))],
    "parallel branches": [{**event, "branch": f"both.a{number // 2}"} for number, event in enumerate(turns(SAME, SAME, SAME))],
    "other invocations": [
        event
        for number, invocation in enumerate("ijk")
        for event in (
            {**said("again", "user"), "invocation_id": invocation},
            *({**one, "invocation_id": invocation} for one in turns(SAME, SAME, SAME)[2 * number : 2 * number + 2]),
            {**said("not yet"), "invocation_id": invocation},
        )
    ],
    "two answers": [said("not yet"), said("not yet")],
    "answers of two agents": [said("yes"), said("yes"), said("yes", author="other"), said("yes", author="other")],
    "streamed": [*[said("so", partial=True)] * 4, said("so it is")],
    "words before calls": [
        {"content": {"role": "model", "parts": [{"text": "I look."}, *event["content"]["parts"]]}}
        for event in turns({"n": 1}, {"n": 2}, {"n": 3}, args={})
    ],
    "there and back": handed("a", "b", "a"),
    "in a circle": handed("a", "b", "c", "a", "b", "c", "a"),
    "with work in between": [*handed("a", "b", "a", "b")[:2], *turns(SAME, author="b"), *handed("a", "b", "a", "b")[2:]],
    "loop that was left": looped([said("one")], [{**said("two"), **LEFT}]),
    "loop that waits": looped([said("one")])[:-1],
    "loop in a loop that was left": looped(looped([{**said("one"), **LEFT}])),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_same_again_is_found(name: str, tmp_path: Path) -> None:
    events, expected = PLANTED[name]
    last = said("fine", author="last")
    assert found_in(write_v1(tmp_path / "s.db", [HELLO, *events, last])) == [expected]


@pytest.mark.parametrize("name", CLEAN)
def test_what_looks_alike_is_not_reported(name: str, tmp_path: Path) -> None:
    found = found_in(write_v1(tmp_path / "s.db", [HELLO, *CLEAN[name], said("fine", author="last")]))
    assert [each for each in found if each[0] in ("the same again", "loop at its limit")] == []


def test_what_was_taken_back_is_not_reported(tmp_path: Path) -> None:
    rewind = {"author": "user", "invocation_id": "j", "actions": {"rewind_before_invocation_id": "i"}}
    assert found_in(write_v1(tmp_path / "s.db", [HELLO, *turns(SAME, SAME, SAME), rewind])) == []


def test_the_answers_that_were_not_needed_are_priced(tmp_path: Path) -> None:
    events = [{**event, **(USAGE if number % 2 == 0 else {})} for number, event in enumerate(turns(SAME, SAME, SAME))]
    file = write_v1(tmp_path / "s.db", [HELLO, *events, BYE])
    with StoredDatabase.open(str(file)) as database:
        (finding,) = examine(database, file.name)
    assert finding.what == 'find(q: "x") was called 3 times with the same arguments, and had the same result each time.'
    assert finding.why.endswith("They cost $0.30.")  # a million tokens at $0.30
