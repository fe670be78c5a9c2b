from __future__ import annotations

import enum
import string
from typing import Any

import pytest
from google.genai import types
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runtime.events import Event, EventActions
from runtime.events.kinds import KINDS
from runtime.expressions import ExpressionError, ExpressionTooCostlyError, Template, parse
from runtime.expressions.names import ALL_NAMES
from runtime.expressions.tokens import quoted
from tests.unit.expressions.examples import called, changed, responded, said

PAY = called(("pay", {"amount": 6000, "to": "Ann", "items": [{"price": 1}, {"price": 200}], "when": {"day": 3}}))
TWO = called(("pay", {"amount": 1}), ("pay", {"amount": 9000}), ("look", {"deep": [[1, 2], {"x": None}]}))


def used(prompt: int, model: str | None) -> Event:
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=prompt)
    return Event(author="agent", usage_metadata=usage, model_version=model)


@pytest.mark.parametrize(
    ("source", "event"),
    [
        ('author == "agent"', PAY),
        ('cut_off == "SAFETY"', Event(author="agent", error_code="SAFETY")),
        ("cut_off", Event(author="agent", finish_reason=types.FinishReason.MAX_TOKENS)),
        ("context > 0.8 and context < 0.9", used(900_000, "gemini-2.5-flash")),
        ("not context", used(900_000, "a model of their own")),
        ("not context", used(900_000, None)),
        ("not context", PAY),
        ("not cut_off", Event(author="agent", finish_reason=types.FinishReason.STOP)),
        ('author = "agent"', PAY),
        ('author != "user"', PAY),
        ('kind == "tool call"', PAY),
        ('kind in ["answer", "tool call"]', PAY),
        ('kind not in ["answer"]', PAY),
        ("call.pay", PAY),
        ("call.pay.args.amount > 5000", PAY),
        ("call.pay.args.amount > 5000", TWO),
        ("5000 < call.pay.args.amount", PAY),
        ("call.pay.args.amount >= 6000 and call.pay.args.amount <= 6000.0", PAY),
        ("call.pay.args.amount == 6000.0", PAY),
        ('call["pay"].args["to"] == \'Ann\'', PAY),
        ('call."pay".args.to == "Ann"', PAY),
        ("call.pay.args.items[1].price == 200", PAY),
        ("call.pay.args.items[-1].price == 200", PAY),
        ("call.pay.args.items[*].price > 100", PAY),
        ("call.*.args.when.day == 3", PAY),
        ('call == "look"', TWO),
        ('call contains "look" or call == "look"', TWO),
        ("call.look.args.deep[0] == call.look.args.deep[0]", TWO),
        ("call.look.args.deep contains 5 or call.look.args.deep[0] contains 2", TWO),
        ("call.look.args.deep[1].x == null", TWO),
        ('call.pay.args contains "amount"', PAY),
        ('"amount" in call.pay.args', PAY),
        ('response.pay.status == "ok"', responded("pay", {"status": "ok"})),
        ('response == "pay"', responded("pay", {})),
        ("response.*.error", responded("pay", {"error": "no money"})),
        ('text contains "REFUND"', said("your refund")),
        ('"refund" in text', said("your Refund")),
        ('text ~ "refund|cancel"', said("your refund")),
        (r'text matches "^your\s\w+$"', said("your refund")),
        (r'text ~ "\bre"', said("your refund")),
        ('text == "say \\"hi\\" \\\\"', said('say "hi" \\')),
        ("thought", Event(author="a", content=types.Content(parts=[types.Part(text="hm", thought=True)]))),
        ("not text", PAY),
        ("not not text", said("x")),
        ("not (text or error)", PAY),
        ("partial", said("x", partial=True)),
        ("final", said("x")),
        ("branch == null", said("x")),
        ('branch == "fan.a"', said("x", branch="fan.a")),
        ('invocation == "i1"', said("x", invocation_id="i1")),
        ('id == "e1"', said("x", id="e1")),
        ("time > 1.5e9", said("x")),
        ("error", Event(author="a", error_code="SAFETY")),
        ('error.code == "SAFETY" and error.message == null', Event(author="a", error_code="SAFETY")),
        ('error contains "too much"', Event(author="a", error_code="429", error_message="too much")),
        (
            "tokens.total == 7 and tokens.prompt == 3 and tokens > 6",
            said("x", usage_metadata={"total_token_count": 7, "prompt_token_count": 3}),
        ),
        ("tokens == 0", said("x")),
        ('delta contains "CART" or delta contains "cart"', changed(cart=[1])),
        ("delta.cart[0] == 1", changed(cart=[1])),
        ("delta", changed(cart=0)),
        ("artifact", Event(author="a", actions=EventActions(artifact_delta={"f.png": 2}))),
        ('artifact["f.png"] == 2', Event(author="a", actions=EventActions(artifact_delta={"f.png": 2}))),
        ("checkpoint.step > 1", Event(author="a", actions=EventActions(agent_state={"step": 2}))),
        ('transfer == "bob"', Event(author="a", actions=EventActions(transfer_to_agent="bob"))),
        ("escalate", Event(author="a", actions=EventActions(escalate=True))),
        ("end_of_agent", Event(author="a", actions=EventActions(end_of_agent=True))),
        ('metadata.why == "x"', said("x", custom_metadata={"why": "x"})),
        ("edited", said("x", custom_metadata={"inspector_edited": {}})),
        ('json.content.parts[0].text == "x"', said("x")),
        ('json contains "parts"', said("x")),
        ('true == true and not (true == 1) and not (call.pay.args.amount == "6000")', PAY),
        ('author == "a" or author == "agent" and kind == "tool call"', PAY),
    ],
)
def test_an_expression_matches(source: str, event: Event) -> None:
    assert parse(source).matches(event)
    assert not parse(f"not ({source})").matches(event)


@pytest.mark.parametrize(
    ("source", "event"),
    [
        ("call.pay.args.nothing != 3", PAY),
        ("call.pay.args.nothing == null", PAY),
        ("call.other.args.amount < 1", PAY),
        ('call.pay.args.amount > "5"', PAY),
        ("call.pay.args.to > 5", PAY),
        ("call.pay.args.items.price > 0", PAY),
        ("call.pay.args.items[9].price > 0", PAY),
        ("call.pay.args.amount[0] == 6", PAY),
        ('text ~ "refund" or error', said("nothing")),
        ("delta.cart", changed(cart=0)),
        ("checkpoint.step", said("x")),
        ("call", said("x")),
    ],
)
def test_no_comparison_with_a_missing_value_holds(source: str, event: Event) -> None:
    assert not parse(source).matches(event)


def test_state_is_read_after_the_event_and_changes_are_detected() -> None:
    event = changed(cart={"n": 2}, total=5)
    before = {"cart": {"n": 1, "by": "me"}, "total": 5, "user:plan": "gold"}
    held = {
        'state["cart"] changed': True,
        'state["cart"].n changed': True,
        'state["cart"].by changed': True,  # it is missing
        'state["cart"].x changed': False,
        "state.total changed": False,  # written, but the same
        'state["user:plan"] changed': False,
        'state["user:plan"] == "gold"': True,
        'state["cart"].n == 2': True,
        "state.nothing": False,
    }
    assert {source: parse(source).matches(event, before) for source in held} == held
    assert parse("state.total changed").matches(event)  # the earlier value is unknown
    assert not parse('state["user:plan"] == "gold"').matches(event)
    assert parse("state.total").uses_state and not parse("delta.total").uses_state
    assert parse("state.on changed").matches(changed(on=True), {"on": 1})


@pytest.mark.parametrize(
    ("source", "position", "expected"),
    [
        ("", 0, "expected a name"),
        ("author ==", 9, "expected a name"),
        ("author == and", 10, "found `and`"),
        ("(author", 7, "expected `)`"),
        ("author)", 6, "expected `and`"),
        ('author == "x" text', 14, "found `text`"),
        ("autor == 1", 0, "did you mean `author`"),
        ("zzz", 0, "the names are"),
        ('kind == "tool cal"', 8, 'did you mean "tool call"'),
        ('kind in ["answer", "nonsense"]', 8, "there is no kind 'nonsense'"),
        ('"abc', 0, "not closed"),
        ("author & text", 7, "write `and`"),
        ("author ; text", 7, "`;` is not valid here"),
        ("text ~ 5", 7, "expected a pattern"),
        ('text ~ "a(b"', 9, "unterminated"),
        ('text ~ "(?=b)"', 8, "look-around"),
        (r'text ~ "(a)\1"', 11, "backreferences"),
        ("call.pay.", 9, "expected a name after the dot"),
        ("call[0]", 4, "call.NAME"),
        ("call[pay]", 5, "expected a key"),
        ("author.x", 6, "`author` has no fields"),
        ("tokens.x", 6, "has the fields total"),
        ("tokens.total.x", 12, "has no fields"),
        ("state", 5, 'state["cart"]'),
        ("author changed", 7, "only state can be tested"),
        ("author not 5", 11, "expected `in`"),
        ('author in ["a" "b"]', 15, "expected `,`"),
        ("author in [text]", 11, "expected a value"),
        ("(" * 100 + "author", 40, "nested more than"),
        ("x" * 3000, 2000, "at most 2,000"),
        ("time > " + "9" * 400, 7, "too long"),
    ],
)
def test_an_error_has_its_position_and_what_was_expected(source: str, position: int, expected: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        parse(source)
    assert raised.value.position == position
    assert expected in str(raised.value)


class Trap:
    """Fails when any of its code runs."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("it was compared")

    def __bool__(self) -> bool:
        raise AssertionError("its truth value was requested")

    def __len__(self) -> int:
        raise AssertionError("its length was requested")

    __hash__ = None  # type: ignore[assignment]


class Shade(enum.StrEnum):
    DARK = "dark"

    def __eq__(self, other: object) -> bool:
        raise AssertionError("it was compared")

    __hash__ = str.__hash__


HOSTILE = [
    "call.pay.__class__",
    "call.pay.args.__class__.__mro__[1].__subclasses__",
    'call["__init__"].__globals__',
    "author.__class__",
    "state.__dict__",
    'state["x"].__class__',
    "delta.x.__class__.__name__",
    "json.__class__",
    'json["__class__"]',
    "__import__",
    '__import__("os").system("id")',
    "().__class__",
    "[].__class__",
    '"".__class__',
    "lambda",
    "author if text else id",
    "{author}",
    "call.pay(1)",
    "author == author == author",
    "1 + 1",
    "author[::1]",
    "delta.x == 1",
    "delta.x",
    "delta.x != null",
    "delta.x < 5",
    "delta.x in [1]",
    'delta.x contains "a"',
    'delta.x ~ "a"',
    "delta.x == delta.x",
    "delta.list contains 1",
    "delta.list == delta.list",
    "delta.list[*] == 1",
    "state.x changed",
    "not delta.x",
]


@pytest.mark.parametrize("source", HOSTILE)
def test_python_objects_are_never_accessed(source: str) -> None:
    event = Event(author="agent")
    event.actions.state_delta = {"x": Trap(), "list": [Trap()]}
    try:
        expression = parse(source)
    except ExpressionError:
        return
    assert expression.matches(event, {"x": Trap()}) in (True, False)
    assert Template("{delta.x}").fill(event) == "-"


def test_members_of_str_enums_are_texts_and_their_code_does_not_run() -> None:
    event = Event(author="agent")
    event.actions.state_delta = {"shade": Shade.DARK}
    assert parse('delta.shade == "dark" and delta.shade ~ "^d"').matches(event)


WORDS = st.sampled_from(
    [
        *ALL_NAMES,
        "and",
        "or",
        "not",
        "in",
        "contains",
        "matches",
        "changed",
        "true",
        "null",
        "(",
        ")",
        "[",
        "]",
        ".",
        ",",
        "*",
        "==",
        "!=",
        "<",
        *["~", "=", ">=", '"text"', "'x'", "5", "-1.5e3", "pay", "args", "amount", '"(a+)+b"', '"tool call"', '"cart"', '"a{1,3}b?"'],
    ]
)
EVENTS = st.sampled_from(
    [PAY, TWO, said("aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"), responded("pay", {"a": [1]}), changed(cart={"n": [1]}), Event(author="x")]
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.lists(WORDS, max_size=14).map(" ".join), st.text(max_size=60), st.text(string.printable, max_size=40)), EVENTS)
@example("not " * 400 + "author", PAY)
@example("author or " * 190 + "author", PAY)
def test_any_text_is_parsed_or_rejected_with_a_position(source: str, event: Event) -> None:
    try:
        expression = parse(source)
    except ExpressionError as error:
        assert 0 <= error.position <= len(source)
        assert error.problem
        return
    assert expression.matches(event, {"cart": 1}) in (True, False)


@given(st.text(), st.text())
def test_a_quoted_text_equals_itself(text: str, other: str) -> None:
    assert parse(f"author == {quoted(text)}").matches(Event(author=text))
    assert parse(f"author == {quoted(text)}").matches(Event(author=other)) == (text == other)


def test_every_kind_can_be_tested() -> None:
    for kind in KINDS:
        assert not parse(f'kind == "{kind}" and false').matches(PAY)


@pytest.mark.timeout(60)  # a backtracking matcher would never finish the fourth
def test_evaluation_is_bounded() -> None:
    wide = changed(rows=[{"x": [0] * 300} for _ in range(300)])
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    cases = [
        ("delta.rows[*].x[*] == delta.rows[*].x[*]", wide),
        ("delta.rows[*].x contains 1 or " * 60 + "delta.rows[*].x contains 1", wide),
        ("delta.deep == delta.deep", changed(deep=deep)),
        ('text ~ "(a|b|ab|ba|[ab]{1,30})*c$" or ' * 20 + "error", said("ab" * 50_000)),
    ]
    for source, event in cases:
        with pytest.raises(ExpressionTooCostlyError):
            parse(source).matches(event)


def test_a_template_is_filled_from_the_event() -> None:
    template = Template("{{{author}}} paid {call.pay.args.amount} ({call.pay.args.items}) of {state.budget}{branch}")
    assert template.fill(TWO, {"budget": 7}) == "{agent} paid 1, 9000 (-) of 7-"
    assert template.fill(PAY).startswith('{agent} paid 6000 ([{"price": 1}, {"price": 200}]) of -')


@pytest.mark.parametrize(
    ("source", "position"), [("a {", 2), ("a } b", 2), ("{autor}", 1), ("x {call.pay.}", 12), ("{}", 1), ('{author == "x"}', 8)]
)
def test_an_invalid_template_is_rejected_with_a_position(source: str, position: int) -> None:
    with pytest.raises(ExpressionError) as raised:
        Template(source)
    assert raised.value.position == position
