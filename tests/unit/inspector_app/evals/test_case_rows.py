"""The steps of a case beside each other: equal calls are aligned, others are marked."""

from __future__ import annotations

from google.genai import types

from inspector_app.analysis.evals import CaseResult
from inspector_app.evals.case_rows import case_rows
from inspector_app.exchange.eval_sets import EvalCase, Step, Turn


def turn(*calls: str, said: str = "done") -> Turn:
    parts = [types.Part(function_call=types.FunctionCall(name=name, args={"b": 1, "a": "x"})) for name in calls]
    steps = (Step("agent", types.Content(parts=parts)),) if parts else ()
    return Turn("i", types.UserContent("hi"), types.ModelContent(said), steps, 0.0)


def test_equal_calls_are_beside_each_other_and_a_missing_one_has_a_gap() -> None:
    case = EvalCase("c", (turn("look", "order"),))
    rows = case_rows(case, CaseResult("set", case, (turn("search", "look", said="other"),)))
    look, order, search = (f'{name}(a="x", b=1)' for name in ("look", "order", "search"))
    assert [(row.what, row.expected, row.actual, row.differs) for row in rows] == [
        ("message", "hi", "hi", False),
        ("call", "", search, True),
        ("call", look, look, False),
        ("call", order, "", True),
        ("response", "done", "other", True),
    ]


def test_a_turn_that_was_not_reached_differs_and_the_error_comes_first() -> None:
    case = EvalCase("c", (turn(), turn("look")))
    rows = case_rows(case, CaseResult("set", case, (turn(),), error="It broke."))
    assert [(row.what, row.turn, row.differs) for row in rows] == [
        ("error", 1, True),
        ("message", 1, False),
        ("response", 1, False),
        ("message", 2, False),
        ("call", 2, True),
        ("response", 2, True),
    ]


def test_a_case_that_was_not_run_has_no_differences() -> None:
    assert {row.differs for row in case_rows(EvalCase("c", (turn("look"),)), None)} == {None}
