"""A recorded answer is given to the call of the new session that it belongs to."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from inspector_app.analysis.eval_answers import AnswerError, RecordedAnswers
from inspector_app.exchange.eval_sets import Step, Turn


def turn(*parts: types.Part, calls: dict[str, int] | None = None) -> Turn:
    made = [types.Part(function_call=types.FunctionCall(id=name, name="ask", args={"n": n})) for name, n in (calls or {}).items()]
    return Turn("i", types.UserContent(list(parts)), None, (Step("agent", types.Content(parts=made)),) if made else (), 0.0)


def answer(call: str, name: str = "ask") -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call, name=name, response={"status": "approved"}))


def pending(**calls: int) -> list[dict[str, Any]]:
    parts = [{"function_call": {"id": name, "name": "ask", "args": {"n": n}}} for name, n in calls.items()]
    return [{"content": {"parts": parts}, "long_running_tool_ids": list(calls)}]


def given(answers: RecordedAnswers, index: int, events: list[dict[str, Any]]) -> list[str | None]:
    message = answers.message(index, events)
    return [part.function_response.id for part in message.parts or () if part.function_response]


def test_an_answer_goes_to_the_call_with_the_same_arguments_else_to_the_first() -> None:
    turns = [turn(types.Part(text="hi"), calls={"old-1": 1, "old-2": 2}), turn(answer("old-2")), turn(answer("old-1"))]
    answers = RecordedAnswers(turns)
    assert given(answers, 1, pending(a=1, b=2)) == ["b"]
    assert given(answers, 2, pending(a=7, b=2)) == ["a"]
    assert turns[1].message.parts == [answer("old-2")]


def test_a_further_answer_goes_to_the_same_call() -> None:
    answers = RecordedAnswers([turn(types.Part(text="hi"), calls={"old": 1}), turn(answer("old")), turn(answer("old"))])
    assert [given(answers, index, pending(a=1, b=1)) for index in (1, 2)] == [["a"], ["a"]]


def test_an_answer_without_a_call_is_refused() -> None:
    answers = RecordedAnswers([turn(types.Part(text="hi"), calls={"old": 1}), turn(answer("old", "other"))])
    with pytest.raises(AnswerError, match="Turn 2 answers other, but no call of it waits"):
        answers.message(1, pending(a=1))


def test_a_case_that_lost_the_first_message_is_refused() -> None:
    with pytest.raises(AnswerError, match="Turn 1 answers ask, but the case lacks the message"):
        RecordedAnswers([turn(answer("old"), calls={"old": 1})]).message(0, [])
