"""What the calls of one turn wrote: lists that lost an addition, and which tool is credited."""

from __future__ import annotations

import gc
import time
from typing import Any

import pytest
from google.genai import types

from runtime.events import Event, EventActions
from runtime.history.key_writers import writes_of
from runtime.history.state_at import History
from runtime.history.turn_writes import lost_updates
from runtime.sessions.session_key import SessionKey

Made = tuple[str, dict[str, Any], Any]  # tool, arguments, result


def turn(*made: Made, number: int = 0) -> Event:
    parts = [
        types.Part(function_call=types.FunctionCall(id=f"{number}.{place}", name=name, args=args))
        for place, (name, args, _) in enumerate(made)
    ]
    return Event(author="a", invocation_id="i", content=types.Content(parts=parts))


def result(delta: dict[str, Any], *made: Made, number: int = 0, first: int = 0) -> Event:
    parts = [
        types.Part(function_response=types.FunctionResponse(id=f"{number}.{place}", name=name, response=response))
        for place, (name, _, response) in enumerate(made, first)
    ]
    return Event(author="a", invocation_id="i", content=types.Content(role="user", parts=parts), actions=EventActions(state_delta=delta))


def added(item: str, tool: str = "add", **more: Any) -> Made:
    return tool, {"item": item, **more}, {"added": item}


A, B, C = added("apple"), added("bean"), added("corn")
ONE, TWO = ("add", {"item": "apple"}, {"count": 1, "id": "x-1"}), ("add", {"item": "bean"}, {"count": 1, "id": "x-2"})

SEEN_A, SEEN_B = added("apple", "look"), added("bean", "look")

LOST: dict[str, tuple[list[Event], dict[str, Any] | None, list[list[str]]]] = {
    "the first": ([turn(A, B), result({"items": ["bean"]}, A, B)], None, [["apple"]]),
    "the second": ([turn(A, B), result({"items": ["apple"]}, A, B)], {}, [["bean"]]),
    "two of three": ([turn(A, B, C), result({"items": ["old", "corn"]}, A, B, C)], {"items": ["old"]}, [["apple", "bean"]]),
    "objects": ([turn(A, B), result({"items": [{"name": "Bean", "n": 1}]}, A, B)], {"items": []}, [["apple"]]),
    "texts with it": ([turn(A, B), result({"items": ["old", "1 x bean"]}, A, B)], {"items": ["old"]}, [["apple"]]),
    "in an object": ([turn(A, B), result({"cart": {"n": 1, "items": ["bean"]}}, A, B)], {"cart": {"n": 0, "items": []}}, [["apple"]]),
    "of a user": ([turn(A, B), result({"user:items": ["bean"]}, A, B)], None, [["apple"]]),
    "numbered results": ([turn(ONE, TWO), result({"items": ["bean"]}, ONE, TWO)], None, [["apple"]]),
    "beside another tool": (
        [turn(A, B, added("hm", "note")), result({"items": ["bean"]}, A, B, added("hm", "note"))], None, [["apple"]]
    ),
    "beside a tool with the same arguments": (
        [turn(A, B, SEEN_A, SEEN_B), result({"items": ["bean"]}, A, B, SEEN_A, SEEN_B)], None, [["apple", "apple"]]
    ),
    "in two events": ([turn(A, B), result({"items": ["apple"]}, A), result({"items": ["bean"]}, B, first=1)], None, [["apple"]]),
    "of which the first has the second's value": (
        [turn(A, B, C), result({"items": ["apple"]}, A), result({"items": ["corn"]}, B, first=1), result({"items": ["corn"]}, C, first=2)],
        None,
        [["apple", "bean"]],
    ),
    "in two turns": (
        [turn(A, B), result({"items": ["bean"]}, A, B), turn(A, C, number=1), result({"items": ["bean", "corn"]}, A, C, number=1)],
        None,
        [["apple"], ["apple"]],
    ),
}  # fmt: skip
REFUSED, REPEATED = ("add", {"item": "apple"}, {"error": "sold out"}), added("APPLE")
CLEAN: dict[str, tuple[list[Event], dict[str, Any] | None]] = {
    "both": ([turn(A, B), result({"items": ["apple", "bean"]}, A, B)], None),
    "refused": ([turn(REFUSED, B), result({"items": ["bean"]}, REFUSED, B)], None),
    "there already": ([turn(A, B), result({"items": ["apple", "bean"]}, A, B)], {"items": ["apple"]}),
    "the same twice": ([turn(A, REPEATED), result({"items": ["apple"]}, A, REPEATED)], None),
    "one call": ([turn(A), result({"items": ["apple"]}, A)], None),
    "one after the other": ([turn(A), result({"items": ["apple"]}, A), turn(B, number=1), result({"items": ["bean"]}, B, number=1)], None),
    "other tools": ([turn(A, added("hm", "note")), result({"items": ["apple"]}, A, added("hm", "note"))], None),
    "no list": ([turn(A, B), result({"last": "bean"}, A, B)], None),
    "beside a search for more": ([turn(A, SEEN_A, SEEN_B), result({"items": ["apple"]}, A, SEEN_A, SEEN_B)], None),
    "a search for less": ([turn(A, B, SEEN_B), result({"items": ["apple", "bean"]}, A, B, SEEN_B)], None),
    "a list of its own each time": (
        [turn(A), result({"items": ["apple"]}, A), turn(B, number=1), result({"items": ["bean"]}, B, number=1),
         turn(A, C, number=2), result({"items": ["corn"]}, A, C, number=2)],
        None,
    ),
    "a list of its own, later": (
        [turn(A, B), result({"items": ["bean"]}, A, B), turn(C, number=1), result({"items": ["corn"]}, C, number=1)], None
    ),
    "in an object, both": ([turn(A, B), result({"cart": {"items": ["apple", "bean"]}}, A, B)], None),
    "an object by names": ([turn(A, B), result({"cart": {"apple": [1], "bean": [2]}}, A, B)], None),
    "nothing added": ([turn(A, B), result({"items": ["old"]}, A, B)], {"items": ["old"]}),
    "without arguments": ([turn(("add", {}, None), ("add", {}, None)), result({"items": [1]}, ("add", {}, None), ("add", {}, None))], None),
    "in two events, both": (
        [turn(A, B), result({"items": ["apple"]}, A), result({"items": ["apple", "bean"]}, B, first=1)], None
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_a_list_that_lost_an_addition_is_found(name: str) -> None:
    events, first, expected = LOST[name]
    assert [[(call.args or {})["item"] for call in update.lost] for update in lost_updates(events, first)] == expected


@pytest.mark.parametrize("name", CLEAN)
def test_a_list_that_has_all_is_not(name: str) -> None:
    assert lost_updates(*CLEAN[name]) == []


NOTE = added("hm", "note")
CREDITED: dict[str, tuple[list[Event], list[tuple[str, ...]], str]] = {
    "one call": ([turn(A), result({"k": 1}, A)], [("add",)], "add"),
    "the one whose argument it is": ([turn(A, NOTE), result({"k": "hm"}, A, NOTE)], [("note",)], "note"),
    "the one whose addition it is": ([turn(NOTE, A), result({"k": ["apple"]}, NOTE, A)], [("add",)], "add"),
    "the one whose addition to an object it is": ([turn(NOTE, A), result({"k": {"items": ["apple"]}}, NOTE, A)], [("add",)], "add"),
    "one of two": ([turn(A, NOTE), result({"k": 7}, A, NOTE)], [()], "add or note"),
    "both": ([turn(A, NOTE), result({"k": ["apple", "hm"]}, A, NOTE)], [("add", "note")], "add, note"),
    "not the one that was overwritten": (
        [turn(A, NOTE), result({"k": ["hm"]}, A), result({"k": ["hm"]}, NOTE, first=1)], [(), ()], ""
    ),
    "a call of one tool": ([turn(A, B), result({"k": 7}, A, B)], [("add",)], "add"),
}  # fmt: skip


@pytest.mark.parametrize("name", CREDITED)
def test_a_tool_is_credited_with_what_it_wrote(name: str) -> None:
    events, tools, text = CREDITED[name]
    writes = writes_of(History(events, baseline={}), SessionKey("app", "u", "s"), "k")
    assert ([write.tools for write in writes][:1], writes[0].tool_text) == (tools[:1], text)


def test_thousands_of_calls_in_one_turn_are_read_in_linear_time() -> None:
    def seconds(count: int) -> float:
        made = [added(f"item {number}") for number in range(count)]
        events = [turn(*made), result({"k": [name["item"] for _, name, _ in made]}, *made)]
        gc.collect()
        begin = time.thread_time()
        assert lost_updates(events, {}) == []
        assert [write.tools for write in writes_of(History(events, baseline={}), SessionKey("app", "u", "s"), "k")] == [("add",)]
        return time.thread_time() - begin

    assert seconds(8_000) < 10 * seconds(2_000) + 0.5
