"""What msgspec reads of a row equals what Python reads of the whole JSON."""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import pytest

from runtime.storage.reading.event_glance import glance
from tests.sweep import count

NAMES = ["author", "error_code", "partial", "long_running_tool_ids", "custom_metadata", "invocation_id", "id", "usage_metadata"]
ACTIONS = ["end_of_agent", "escalate", "agent_state", "rewind_before_invocation_id", "state_delta"]
PARTS = ["text", "function_call", "function_response", "executable_code", "code_execution_result", "thought"]
VALUES: list[Any] = [None, True, False, 0, 1.5, "", "x", [], ["c"], {}, {"id": "c"}, {"id": None}, {"id": 5}, {"name": "f"}, {"x": [{}]}]
USUAL: dict[str, list[Any]] = {
    "author": ["user", "me"],
    "error_code": [None, "429"],
    "partial": [True, False],
    "long_running_tool_ids": [[], ["c"]],
    "custom_metadata": [{}, None],
    "invocation_id": ["j"],
    "end_of_agent": [True, None],
    "escalate": [True],
    "agent_state": [{"x": 1}, None],
    "rewind_before_invocation_id": ["i"],
    "function_call": [{"id": "c", "name": "f", "args": {"id": 5}}, {"name": "f"}],
    "function_response": [{"id": "c", "response": {}}],
    "executable_code": [{"code": "1"}],
    "code_execution_result": [{"outcome": "OK"}],
}


def some(names: list[str], chance: random.Random) -> dict[str, Any]:
    def value(name: str) -> Any:
        return chance.choice(USUAL.get(name, ["x"]) if chance.random() < 0.95 else VALUES)

    return {name: value(name) for name in names if chance.random() < 0.4}


def some_event(chance: random.Random) -> dict[str, Any]:
    event = {"author": chance.choice(["user", "me"]), **some(NAMES, chance)}
    if chance.random() < 0.8:
        event["content"] = {"parts": [some(PARTS, chance) for _ in range(chance.randint(0, 3))], "role": "model"}
    if chance.random() < 0.8:
        event["actions"] = some(ACTIONS, chance)
    return event


def in_camel_case(value: Any) -> Any:
    if isinstance(value, list):
        return [in_camel_case(item) for item in value]
    return {camel(name): in_camel_case(item) for name, item in value.items()} if isinstance(value, dict) else value


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


def expected(data: str, *, json_wins: bool) -> Any:
    """Return what `glance` should read of usual JSON in `snake_case`."""
    event = json.loads(data)
    actions, content = event.get("actions") or {}, event.get("content")
    parts = (content or {}).get("parts") or []
    calls, responses = (
        [part[half].get("id") for part in parts if part.get(half) is not None] for half in ("function_call", "function_response")
    )
    is_code = any(parts[-1].get(name) is not None for name in ("executable_code", "code_execution_result")) if parts else False
    return (
        event["invocation_id"] if json_wins and event.get("invocation_id") is not None else "i",
        event["author"],
        calls,
        responses,
        actions.get("rewind_before_invocation_id"),
        actions.get("end_of_agent") is True,
        actions.get("agent_state") is not None or bool(event.get("long_running_tool_ids")),
        bool(event.get("error_code")),
        content is not None,
        bool(parts) and not (calls or responses or event.get("partial") or actions.get("escalate") or is_code),
        False,
    )


@pytest.mark.sweep
@pytest.mark.parametrize("json_wins", [False, True])
def test_usual_rows_are_read_alike_in_both_spellings(json_wins: bool) -> None:
    chance, read = random.Random(1), 0
    typed = glance(json_wins=json_wins)
    for _ in range(count(quick=4_000, full=400_000)):
        event = some_event(chance)
        text = json.dumps(event, ensure_ascii=chance.random() < 0.5, separators=chance.choice([None, (",", ":")]))
        for spelled in (text, json.dumps(in_camel_case(event))):
            found = typed("i", spelled)
            if found is not None:
                assert comparable(found) == comparable(expected(text, json_wins=json_wins)), spelled
                read += 1
    assert read > count(quick=4_000, full=400_000) / 2
    sys.stderr.write(f"{read} rows\n")


def comparable(seen: Any) -> Any:
    name, author, calls, responses, *more = seen
    return name, author, list(calls), list(responses), *map(bool, more[1:]), more[0]


def test_rows_of_mixed_spelling_are_not_read() -> None:
    typed = glance(json_wins=False)
    for event in (
        {"author": "a", "errorCode": "x", "error_code": None},
        {"author": "a", "longRunningToolIds": ["c"], "actions": {"agent_state": {}}},
        {"author": "a", "content": {"parts": [{"functionCall": {"id": "c"}}, {"function_call": {"id": "d"}}]}},
    ):
        assert typed("i", json.dumps(event)) is None


@pytest.mark.sweep
def test_text_that_is_not_json_is_not_read() -> None:
    chance, tried = random.Random(2), 0
    typed = glance(json_wins=False)
    for _ in range(count(quick=4_000, full=400_000)):
        text = list(json.dumps(some_event(chance)))
        for _ in range(chance.randint(1, 2)):
            place = chance.randrange(len(text))
            text[place] = chance.choice(
                ["", "{", "}", "[", "]", ",", ":", '"', "\\", "\n", "\0", "\ud800", "0", "-", ".", "e", " ", text[place]]
            )
        try:
            json.loads("".join(text))
        except ValueError:
            assert typed("i", "".join(text)) is None, "".join(text)
            tried += 1
    assert tried > 1_000


def test_escaped_and_repeated_keys_count_as_python_counts_them() -> None:
    typed = glance(json_wins=False)
    for text in ('{"author": "a", "autho\\u0072": "b"}', '{"author": "a", "error_code": "x", "error_code": null}'):
        found = typed("i", text)
        assert found is not None
        assert comparable(found) == comparable(expected(text, json_wins=False))


def test_an_empty_field_for_code_is_no_code() -> None:
    text = json.dumps({"author": "me", "content": {"parts": [{"text": "Hi", "executable_code": None}]}})
    found = glance(json_wins=False)("i", text)
    assert found is not None
    assert found[9]
