"""An event that msgspec has checked equals the one that is read from its whole JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pydantic_core import from_json

from runtime.events.plain_event import PlainEvent, plain_event, typed_reader
from tests.sweep import count

USUAL: dict[str, list[Any]] = {
    "id": ["e"],
    "invocation_id": ["i"],
    "author": ["user", "me", "é😀"],
    "timestamp": [1, 1.5, 10**19, 1e300],
    "branch": ["a.b"],
    "partial": [True, False],
    "turn_complete": [True],
    "error_code": ["", "429"],
    "error_message": ["no"],
    "finish_reason": ["STOP"],
    "model_version": ["m"],
    "avg_logprobs": [0, -0.5],
    "long_running_tool_ids": [[], ["c"]],
    "custom_metadata": [{}, {"a": [1]}],
    "node_info": [{"path": "a/b"}, {}],
    "usage_metadata": [{}, {"prompt_token_count": 3, "total_token_count": 4}, {"x": [{"modality": 5}]}],
}
ACTIONS: dict[str, list[Any]] = {
    "state_delta": [{}, {"a": 1, "b": None}, {"big": 2**80, "x": [1.0, -0.0]}],
    "artifact_delta": [{"f": 0}],
    "requested_auth_configs": [{}],
    "requested_tool_confirmations": [{}],
    "end_of_agent": [True, False],
    "escalate": [True],
    "agent_state": [{"x": 1}, {}],
    "transfer_to_agent": ["b"],
    "rewind_before_invocation_id": ["i"],
}
PARTS: dict[str, list[Any]] = {
    "text": ["", "hello", "NaN"],
    "thought": [True],
    "thought_signature": ["a+/b"],
    "function_call": [{"id": "c", "name": "f", "args": {"id": 5}}, {"name": "f"}, {}],
    "function_response": [{"id": "c", "response": {"error": "x"}}],
}
UNUSUAL: list[Any] = [None, True, 0, 1.5, "x", [], ["c"], {}, {"id": None}, {"x": [{}]}, [None]]
ASKED = [*USUAL, "content", "actions", "output", "unknown", "something_else"]


def some(values: dict[str, list[Any]], chance: random.Random, often: float) -> dict[str, Any]:
    names = [name for name in values if chance.random() < often]
    chance.shuffle(names)
    return {name: chance.choice(values[name] if chance.random() < 0.97 else UNUSUAL) for name in names}


def some_event(chance: random.Random) -> dict[str, Any]:
    event = {"author": "a", "timestamp": 2.5, **some(USUAL, chance, 0.3)}
    if chance.random() < 0.8:
        content = {"parts": [some(PARTS, chance, 0.3) for _ in range(chance.randint(0, 3))], "role": "model"}
        event["content"] = some({name: [value] for name, value in content.items()}, chance, 0.9)
    if chance.random() < 0.8:
        event["actions"] = some(ACTIONS, chance, 0.3)
    if chance.random() < 0.05:
        event[chance.choice(["grounding_metadata", "customMetadata", "live"])] = {}
    return event


def read(text: str, *, json_wins: bool) -> PlainEvent | None:
    reader = typed_reader(json_wins=json_wins)
    assert reader is not None
    return reader("e1", "i1", text)


def whole(text: str, *, json_wins: bool) -> Any:
    """Return the event that is read from the whole JSON, None if it is not plain."""
    found, columns = from_json(text), {"id": "e1", "invocation_id": "i1"}
    return plain_event({**columns, **found} if json_wins else {**found, **columns})


def kind(value: Any) -> Any:
    return getattr(value, "model", type(value))


@pytest.mark.sweep
@pytest.mark.parametrize("json_wins", [False, True])
def test_events_are_read_alike(json_wins: bool) -> None:
    chance, plain, typed = random.Random(5), 0, 0
    for _ in range(count(quick=3_000, full=300_000)):
        text = json.dumps(some_event(chance), ensure_ascii=chance.random() < 0.5)
        expected, found = whole(text, json_wins=json_wins), read(text, json_wins=json_wins)
        plain += expected is not None
        if found is None:
            continue
        typed += 1
        assert expected is not None, text
        for name in ASKED:
            assert getattr(found, name) == getattr(expected, name), (name, text)
            assert kind(getattr(found, name)) == kind(getattr(expected, name)), (name, text)
        for way in ("get_function_calls", "get_function_responses", "is_final_response", "model_dump_json"):
            assert getattr(found, way)() == getattr(expected, way)(), (way, text)
        assert found == expected
        assert found.model_extra == expected.model_extra
        assert json.dumps(found.model_dump()) == json.dumps(expected.model_dump())  # the order of names, too
    assert typed > 0.9 * plain > 500


@pytest.mark.sweep
def test_text_that_is_not_json_is_not_read() -> None:
    chance, tried = random.Random(2), 0
    for _ in range(count(quick=3_000, full=300_000)):
        text = list(json.dumps(some_event(chance)))
        for _ in range(chance.randint(1, 2)):
            place = chance.randrange(len(text))
            text[place] = chance.choice(["", "{", "}", "[", ",", ":", '"', "\\", "\n", "\0", "0", "-", ".", "NaN", "1e999", text[place]])
        try:
            expected = whole("".join(text), json_wins=False)
        except ValueError:
            assert read("".join(text), json_wins=False) is None, "".join(text)
            tried += 1
        else:
            found = read("".join(text), json_wins=False)
            assert found is None or found == expected, "".join(text)
    assert tried > 500


@pytest.mark.parametrize("text", ['"\\ud800"', "NaN", "1e999", "[" * 5000 + "]" * 5000, "5, 5"])
def test_what_only_some_parsers_read_is_left_to_the_other_reader(text: str) -> None:
    event = '{"author": "a", "timestamp": 1, "actions": {"state_delta": {"x": %s}}}'
    assert read(event % "5", json_wins=False) is not None
    assert read(event % text, json_wins=False) is None


def test_escaped_and_repeated_names_count_as_python_counts_them() -> None:
    text = '{"author": "a", "autho\\u0072": "b", "timestamp": 1, "actions": {"state_delta": {"x": 1}}, "actions": {"end_of_agent": true}}'
    found, expected = read(text, json_wins=False), whole(text, json_wins=False)
    assert found is not None
    assert found == expected
    assert (found.author, found.actions) == ("b", expected.actions)


@pytest.mark.parametrize("ids", [(None, "i"), ("e", 5), (b"e", "i")])
def test_ids_that_are_no_texts_are_left_to_the_other_reader(ids: tuple[Any, Any]) -> None:
    reader = typed_reader(json_wins=False)
    assert reader is not None
    assert reader(*ids, '{"author": "a", "timestamp": 1}') is None
