from __future__ import annotations

import time
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from runtime.events import Event, EventActions
from runtime.history.session_title import MOST, message_of, session_title
from runtime.sessions.session_key import SessionKey
from runtime.support.visible_text import visible

KEY = SessionKey("travel", "ann", "0b5ad3a2-9f5e-4a51-9d2c-7a1d6cbb1c5e")
CREATED = 1_790_000_000.0
NAMELESS = f"travel, {time.strftime('%Y-%m-%d %H:%M', time.localtime(CREATED))}"


def said(*parts: Any, author: str = "user", invocation: str = "i") -> Event:
    made = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    return Event(author=author, invocation_id=invocation, content=types.Content(role="user", parts=made))


def rewind(to: str, invocation: str = "r") -> Event:
    return Event(author="user", invocation_id=invocation, actions=EventActions(rewind_before_invocation_id=to))


def title(*events: Event, **known: Any) -> str:
    return session_title(KEY, CREATED, message=message_of(events), **known)


def picture(name: str | None = None) -> types.Part:
    return types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png", display_name=name))


def call(name: str) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args={}))


def answer(name: str) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(name=name, response={}))


def test_a_session_is_called_by_its_first_message() -> None:
    assert title(said("Welcome", author="me"), said("A trip\nto   Lisbon "), said("no")) == "A trip to Lisbon"


def test_an_own_name_comes_before_a_title_and_a_title_before_the_message() -> None:
    state = {"__session_metadata__": {"displayName": " From\tadk web "}}
    assert title(said("hello"), state=state) == "From adk web"
    assert title(said("hello"), state=state, name="Mine") == "Mine"
    assert title(said("hello"), state=state, name=" \n") == "From adk web"


@pytest.mark.parametrize("odd", [None, 3, "text", [], {}, {"displayName": None}, {"displayName": 7}, {"displayName": "  "}])
def test_a_title_that_is_no_text_does_not_count(odd: Any) -> None:
    assert title(said("hello"), state={"__session_metadata__": odd}) == "hello"


def test_thoughts_and_blank_texts_are_passed_over() -> None:
    thought = types.Part(text="let me think", thought=True)
    assert title(said(thought, " \n", "\u200b"), said("Then", "this")) == "Then"


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (picture("cat.png"), "cat.png"),
        (picture(), "image/png"),
        (types.Part(file_data=types.FileData(file_uri="gs://bucket/a/report.pdf")), "report.pdf"),
        (types.Part(file_data=types.FileData(file_uri="gs://bucket/a/", display_name="b.pdf")), "b.pdf"),
        (call("find_order"), "find_order"),
        (answer("approve"), "approve"),
    ],
)
def test_without_text_a_session_is_called_by_its_first_file_call_or_answer(part: types.Part, name: str) -> None:
    assert title(said("hello", author="me"), said(part), said(call("later"))) == name
    assert title(said(part), said("then a text")) == "then a text"


def test_without_any_message_it_is_called_by_its_app_and_time() -> None:
    assert title() == title(said("hello", author="me")) == NAMELESS
    assert session_title(KEY, float("inf")) == "travel"


def test_a_rewound_first_message_counts_until_another_is_there() -> None:
    first, back = said("Lisbon", invocation="one"), rewind("one")
    assert title(first, back) == "Lisbon"
    assert title(first, back, said("Porto", invocation="two")) == "Porto"
    assert title(first, back, said(picture("map.png"), invocation="two")) == "map.png"
    assert title(first, said("kept", invocation="two"), rewind("two"), said("new", invocation="three")) == "Lisbon"


def test_a_fork_says_where_it_begins() -> None:
    assert title(said("A trip to Lisbon"), fork_at=11) == "A trip to Lisbon (fork at 11)"
    assert title(fork_at=0) == f"{NAMELESS} (fork at the start)"
    assert title(said("x"), fork_at=11, name="Cheaper") == "Cheaper"
    long = title(said("word " * 100), fork_at=1_234)
    assert len(long) == MOST and long.endswith("… (fork at 1,234)")


def test_a_long_title_is_cut_and_control_characters_are_shown() -> None:
    assert title(said("x" * 81)) == "x" * 79 + "…"
    assert title(said("x" * 80)) == "x" * 80
    assert title(said("a\x07b\u202ec\udc80")) == "a⟨U+0007⟩b⟨U+202E⟩c\\x80"


TEXTS = st.text(st.characters(), max_size=120)


@given(st.lists(st.tuples(st.sampled_from(["user", "me"]), TEXTS, st.booleans()), max_size=6), TEXTS, st.one_of(st.none(), TEXTS))
def test_every_title_is_one_visible_line_of_at_most_80_characters(
    messages: list[tuple[str, str, bool]], name: str, display: str | None
) -> None:
    events = [said(types.Part(text=text, thought=thought), author=author) for author, text, thought in messages]
    found = title(*events, name=name, state={"__session_metadata__": {"displayName": display}})
    assert found.strip() == found and 0 < len(found) <= MOST
    assert visible(found) == found and " ".join(found.split()) == found
    if not name.strip() and not (display or "").strip() and messages and messages[0][0] == "user" and not messages[0][2]:
        first = " ".join(messages[0][1].split())
        if first.isascii() and first.isprintable() and first and len(first) <= MOST:
            assert found == first
