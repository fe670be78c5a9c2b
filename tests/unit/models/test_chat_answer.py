"""Assembly of chat models' answers, also if a provider leaves parts of its calls out."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.chat_answer import ChatAnswer
from runtime.models.llm_response import LlmResponse

EXAMPLES = 20_000 if os.environ.get("INSPECTOR_SOAK") else 400
Call = tuple[str, str]  # a name and the text of its arguments


def piece(name: str | None = None, arguments: str | None = None, call_id: str | None = None, index: int | None = None) -> Any:
    return SimpleNamespace(index=index, id=call_id, type="function", function=SimpleNamespace(name=name, arguments=arguments))


def chunk(*calls: Any, text: str | None = None, finish: str | None = None, choice: int = 0) -> Any:
    delta = SimpleNamespace(content=text, tool_calls=[*calls] or None)
    return SimpleNamespace(choices=[SimpleNamespace(index=choice, delta=delta, finish_reason=finish)], model="m")


def collect(*chunks: Any, finish: str = "tool_calls") -> list[Any]:
    answer = ChatAnswer()
    for one in (*chunks, chunk(finish=finish)):
        answer.add(one)
    return answer.whole()


def calls_of(answers: list[Any]) -> list[tuple[str | None, Any]]:
    return [(call.name, call.args) for answer in answers for call in answer.get_function_calls()]


def texts_of(answer: LlmResponse) -> str:
    return "".join(part.text or "" for part in (answer.content.parts if answer.content else None) or ())


@dataclass(frozen=True)
class Habits:
    """What a provider says in the pieces of a call."""

    ids: str
    indexes: str
    names: str

    @property
    def can_interleave(self) -> bool:
        return self.ids == "each" or self.indexes == "distinct"

    @property
    def tells_apart(self) -> bool:
        """Whether two calls of one function can be distinguished where one of them has no arguments."""
        return self.ids != "absent" or self.indexes == "distinct"


ARGUMENTS = st.dictionaries(
    st.sampled_from(["a", "b", 'q"{', "ä", "\\"]),
    st.integers() | st.text(max_size=6) | st.sampled_from(["{}", '{"a":1}', "}", "😀", '\\"', "\n", {"in": [{}, {"x": {}}]}]),
    max_size=3,
)


@st.composite
def streams(draw: st.DrawFn) -> tuple[Habits, list[Call], list[Any], bool]:
    habits = Habits(
        draw(st.sampled_from(["first", "each", "absent"])),
        draw(st.sampled_from(["distinct", "zero", "none", "in the chunk"])),
        draw(st.sampled_from(["first", "each"])),
    )
    calls: list[Call] = []
    for _ in range(draw(st.integers(1, 4))):
        args = draw(ARGUMENTS)
        text = "" if not args and draw(st.booleans()) else json.dumps(args, ensure_ascii=draw(st.booleans()))
        call = draw(st.sampled_from(["f", "g", "get_f"])), text
        if habits.tells_apart or not calls or _are_told_apart(calls[-1], call):
            calls.append(call)
    queues = [[(number, part) for part in _cut(draw, text)] for number, (_, text) in enumerate(calls)]
    order: list[tuple[int, str]] = []
    while any(queues):
        left = [queue for queue in queues if queue]
        order.append((draw(st.sampled_from(left)) if habits.can_interleave else left[0]).pop(0))
    chunks, begun = [], set[int]()
    while order:
        taken = [order.pop(0)]
        while order and habits.can_interleave and len(taken) < 3 and draw(st.booleans()):
            if order[0][0] in {number for number, _ in taken} and (habits.indexes != "distinct" or habits.names == "each"):
                break  # no provider sends two pieces of one call at once
            taken.append(order.pop(0))
        pieces = []
        for position, (number, part) in enumerate(taken):
            index = {"distinct": number, "zero": 0, "none": None, "in the chunk": position}[habits.indexes]
            is_first = number not in begun
            begun.add(number)
            name = calls[number][0] if is_first or habits.names == "each" else None
            call_id = f"id-{number}" if habits.ids == "each" or (habits.ids == "first" and is_first) else None
            pieces.append(piece(name, part, call_id, index))
        chunks.append(chunk(*pieces, text="said " if draw(st.booleans()) else None))
    return habits, calls, chunks, draw(st.booleans())


def _are_told_apart(before: Call, call: Call) -> bool:
    return before[0] != call[0] or bool(before[1] and call[1])


def _cut(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=4)))
    if draw(st.booleans()):
        cuts = [0, *cuts]  # many providers begin with a piece without arguments
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@settings(max_examples=EXAMPLES, deadline=None)
@given(streams())
def test_the_calls_that_were_meant_are_found(drawn: tuple[Habits, list[Call], list[Any], bool]) -> None:
    habits, calls, chunks, says_stop = drawn
    found = collect(*chunks, finish="stop" if says_stop else "tool_calls")
    meant = [(name, json.loads(arguments or "{}")) for name, arguments in calls]
    assert len(found) == 1 and found[0].error_code is None
    if habits.indexes == "distinct" or not habits.can_interleave:
        assert calls_of(found) == meant
    else:
        assert sorted(map(str, calls_of(found))) == sorted(map(str, meant)), "in the order in which they began"
    ids = [call.id for call in found[0].get_function_calls()]
    assert len(set(ids)) == len(ids)
    if habits.ids != "absent":
        assert sorted(ids) == [f"id-{number}" for number in range(len(calls))]


WHOLE: dict[str, tuple[list[Any], list[Call]]] = {
    "one chunk, one index": ([chunk(piece("f", "{}", index=0), piece("f", "{}", index=0))], [("f", "{}"), ("f", "{}")]),
    "one chunk, nothing but names": ([chunk(piece("f"), piece("f"), piece("g"))], [("f", "{}"), ("f", "{}"), ("g", "{}")]),
    "one id for all": ([chunk(piece("f", '{"a":1}', "x", 0), piece("f", '{"a":2}', "x", 1))], [("f", '{"a":1}'), ("f", '{"a":2}')]),
    "one id for all, chunk by chunk": (
        [chunk(piece("f", '{"a":1}', "x", 0)), chunk(piece("f", '{"a":2}', "x", 0))],
        [("f", '{"a":1}'), ("f", '{"a":2}')],
    ),
    "the id comes late": ([chunk(piece("f", "", None, 0)), chunk(piece(None, "{}", "x", 0))], [("f", "{}")]),
    "the name comes after the id": ([chunk(piece(None, None, "x", 0)), chunk(piece("f", "{}", None, 0))], [("f", "{}")]),
    "a name in pieces": (
        [chunk(piece("get_", "", "x", 0)), chunk(piece("f", "", "x", 0)), chunk(piece(None, "{}", None, 0))],
        [("get_f", "{}")],
    ),
    "a new id on each piece": ([chunk(piece("f", '{"a"', "x", 0)), chunk(piece(None, ":1}", "y", 0))], [("f", '{"a":1}')]),
    "a line break at the end": ([chunk(piece("f", "{}", "x", 0)), chunk(piece("f", "\n", None, 0))], [("f", "{}")]),
    "an empty piece": ([chunk(piece(index=0)), chunk(piece("f", "{}", "x", 0)), chunk(piece(index=1))], [("f", "{}")]),
    "an index that jumps": ([chunk(piece("f", "{}", "x", 5)), chunk(piece("g", "{}", "y", 2))], [("g", "{}"), ("f", "{}")]),
    "another answer": ([chunk(piece("f", "{}", "x", 0)), chunk(piece("g", "{}", "y", 0), choice=1)], [("f", "{}")]),
    "a surrogate pair cut in two": (
        [chunk(piece("f", '{"a":"\ud83d', "x", 0)), chunk(piece(None, '\ude00"}', None, 0))],
        [("f", '{"a":"😀"}')],
    ),
    "an escaped pair cut in two": (
        [chunk(piece("f", '{"a":"\\ud83d\\u', "x", 0)), chunk(piece(None, 'de00"}', None, 0))],
        [("f", '{"a":"😀"}')],
    ),
}


@pytest.mark.parametrize("case", WHOLE)
def test_calls_are_told_apart(case: str) -> None:
    chunks, meant = WHOLE[case]
    assert calls_of(collect(*chunks)) == [(name, json.loads(arguments)) for name, arguments in meant]


@pytest.mark.parametrize("said", ["", "Let me see. "])
@pytest.mark.parametrize(
    ("finish", "code", "words"),
    [
        ("length", "MAX_TOKENS", "Maximum tokens reached inside the call of pay"),
        ("content_filter", "SAFETY", "The model stopped inside the call of pay"),
        ("tool_calls", "MALFORMED_FUNCTION_CALL", "The arguments of pay are not a JSON object"),
        ("stop", "MALFORMED_FUNCTION_CALL", "The arguments of pay are not a JSON object"),
    ],
)
def test_a_call_that_was_cut_off_is_not_run_and_the_limit_is_named(finish: str, code: str, words: str, said: str) -> None:
    for other in ((), (piece("look", "{}", "w", 0),)):
        chunks = [chunk(*other, text=said or None), chunk(piece("pay", '{"amount": 5', "x", len(other)))]
        *before, last = collect(*chunks, finish=finish)
        assert (last.error_code, last.content) == (code, None) and last.error_message.startswith(words)
        assert calls_of([*before, last]) == []
        assert [part.text for one in before for part in one.content.parts] == ([said] if said else [])
        assert all(one.error_code is None for one in before)


@pytest.mark.parametrize(
    ("finish", "code", "message"), [("length", "MAX_TOKENS", "Maximum tokens reached"), ("content_filter", "SAFETY", "The model stopped")]
)
def test_a_text_that_was_cut_off_says_so(finish: str, code: str, message: str) -> None:
    (answer,) = collect(chunk(text="It is "), chunk(text="pai"), finish=finish)
    assert answer.content.parts[0].text == "It is pai"
    assert (answer.error_code, answer.finish_reason.value) == (code, code) and answer.error_message.startswith(message)


def test_a_text_cut_inside_a_letter_is_joined() -> None:
    answer = ChatAnswer()
    pieces = [texts_of(part) for text in ("Hi \ud83d", "\ude00", " x") for part in answer.add(chunk(text=text))]
    answer.add(chunk(finish="stop"))
    assert texts_of(answer.whole()[0]) == "Hi 😀 x"
    assert "".join(pieces) == "Hi 😀 x" and all(piece.encode() for piece in pieces)


def test_a_stream_without_an_end_is_no_answer() -> None:
    answer = ChatAnswer()
    answer.add(chunk(text="Hi"))
    assert answer.whole() == []


def test_tokens_are_counted_once() -> None:
    usage = SimpleNamespace(prompt_tokens=1, completion_tokens=2, total_tokens=3)
    answer = ChatAnswer()
    answer.add(chunk(piece("pay", '{"amount', "x", 0), text="Hm."))
    answer.add(SimpleNamespace(choices=[], usage=usage))
    answer.add(chunk(finish="length"))
    counted = [one.usage_metadata and one.usage_metadata.total_token_count for one in answer.whole()]
    assert counted == [None, 3]


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "length"])
def test_an_answer_without_content_is_an_error(finish: str) -> None:
    (answer,) = collect(chunk(text=""), chunk(piece(index=0)), finish=finish)
    assert answer.content is None and answer.error_message
    assert answer.error_code == ("MAX_TOKENS" if finish == "length" else "MODEL_RETURNED_NO_CONTENT")
