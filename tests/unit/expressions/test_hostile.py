"""Expressions and events made to break the evaluator: each is rejected with a position, or evaluated in a bounded number of steps.

Python counts the steps as function calls, so that the test depends neither on the evaluator's own budget nor on time.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import pytest

from runtime.events import Event
from runtime.expressions import ExpressionError, ExpressionTooCostlyError, Template, parse
from runtime.expressions.budget import STEPS
from tests.unit.expressions.examples import changed, said

CALLS_A_STEP = 8


def nested(levels: int, kind: str) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if kind == "list" else {"x": value}
    return value


def circle() -> dict[str, Any]:
    around: dict[str, Any] = {}
    around["around"] = around
    return around


EXPRESSIONS = [
    # Python code and attribute access
    '__import__("os").system("id")',
    "author.__class__.__base__.__subclasses__()",
    'call["__globals__"].args.__builtins__',
    "delta.x.__reduce__",
    'state["__dict__"] changed',
    "json.__init__.__globals__",
    "{author.__class__}",
    "author if true else id",
    "[author for author in text]",
    "(lambda: 1)()",
    "9 ** 9 ** 9",
    "1 << 99999",
    "'a' * 999999999",
    "%s %n",
    # huge numbers and texts
    "time > 1e999999",
    "time > -1e-999999",
    "delta.x == 1e308",
    "delta.x < 1e308 or delta.x > -1e308",
    "delta.x in [1.5, 2]",
    "delta.x contains 9",
    'delta.x ~ "9+"',
    "delta.x == delta.x",
    "time > " + "9" * 310,
    "time == " + "0" * 1_990,
    'author == "' + "x" * 1_980 + '"',
    'json contains "99999"',
    'json ~ "9+[^9]*$"',
    # deep nesting
    "(" * 1_000 + "author" + ")" * 1_000,
    "not " * 499 + "author",
    "[" * 900 + "]" * 900,
    "delta" + ".x" * 990,
    "delta" + "[*]" * 600,
    "delta.x" + "[0]" * 600 + " == 1",
    "json" + ".*" * 900,
    "author or " * 199 + "author",
    # patterns that make a backtracking matcher run forever
    'text ~ "(a+)+b"',
    'text ~ "(a|a)*b"',
    'text ~ "(a|aa)+$b"',
    'text ~ "(.*)*x"',
    'text ~ "(.*a){20}"',
    'text ~ "((a{1,30}){1,30}){1,30}b"',
    'text ~ "a{1000}{1000}"',
    'text ~ "(a?){500}a{500}"',
    'text ~ "(x+x+)+y"',
    'text ~ "^(([a-z])+.)+[A-Z]([a-z])+$"',
    'text ~ "[a-z&&[^b]]+c"',
    'text ~ "(?=a)(?!b)(?<=c)"',
    r'text ~ "(a*)\1"',
    'text ~ "' + "(" * 400 + '"',
    'text ~ "' + "a?" * 240 + '"',
    'text ~ "' + "[a" * 200 + '"',
    # confusable and invisible characters
    "ａuthor == 1",
    "author\u200b == 1",
    "author\u202e == 1",
    "аuthor == 1",
    "author == \u201cx\u201d",
    "text contains '\ud800'",
    'text ~ "\ud800+"',
    'text ~ "[\U0001f600-\U0001f64f]"',
    "text contains 'İ'",
    "text contains '\x00'",
    "author\x00 == 1",
    "\ufeffauthor",
    "text ~ '\u0345*\u0130'",
]
EVENTS = {
    "a long text": said("a" * 50_000 + "!"),
    "a text of spaces": said(" " * 50_000),
    "lone surrogates": said("\ud800\udfff" * 1_000 + "\x00İ\u202e"),
    "huge numbers": changed(x=10**5_000, list=[10**400, -(10**400), float("inf"), float("nan")]),
    "deep lists": changed(x=nested(5_000, "list")),
    "deep objects": changed(x=nested(5_000, "object")),
    "wide": changed(x={str(key): list(range(200)) for key in range(200)}),
    "a circle": changed(x=circle()),
}


def calls_of(work: Any) -> int:
    """Return the number of function calls."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("source", EXPRESSIONS)
def test_hostile_expressions_are_rejected_or_evaluated_in_bounded_steps(source: str) -> None:
    try:
        expression = parse(source)
    except ExpressionError as error:
        assert 0 <= error.position <= len(source) and error.problem
        return
    for name, event in EVENTS.items():
        answers: list[Any] = []

        def evaluate(event: Event = event, answers: list[Any] = answers) -> None:
            try:
                answers.append(expression.matches(event, {"x": 1}))
            except ExpressionTooCostlyError:
                answers.append("too costly")

        assert calls_of(evaluate) <= CALLS_A_STEP * STEPS, name
        assert answers in ([True], [False], ["too costly"]), name


@pytest.mark.parametrize("source", ["{delta.x}", "{text}", "{json}", "{delta.list}", "{delta.x[*]} {state.x}"])
def test_a_template_is_filled_for_any_event(source: str) -> None:
    for name, event in EVENTS.items():
        filled: list[str] = []

        def fill(event: Event = event, filled: list[str] = filled) -> None:
            try:
                filled.append(Template(source).fill(event, {"x": 10**5_000}))
            except ExpressionTooCostlyError:
                filled.append("too costly")

        assert calls_of(fill) <= CALLS_A_STEP * STEPS, name
        assert len(filled) == 1 and len(filled[0]) < 10_000, name


def test_parsing_is_bounded() -> None:
    for source in EXPRESSIONS:

        def read(source: str = source) -> None:
            with contextlib.suppress(ExpressionError):
                parse(source)

        assert calls_of(read) < 300_000, source
