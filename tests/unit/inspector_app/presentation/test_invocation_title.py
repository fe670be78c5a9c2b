"""What an invocation is called."""

from __future__ import annotations

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.presentation.invocation_title import LONGEST, invocation_title
from runtime.events.event import Event


def from_(author: str, *parts: types.Part) -> Event:
    return Event(author=author, invocation_id="e-1", content=types.Content(role="user", parts=list(parts)))


def said(text: str, author: str = "user") -> Event:
    return from_(author, types.Part(text=text))


RESPONSE = types.Part(function_response=types.FunctionResponse(id="1", name="pay", response={"ok": True}))
PICTURE = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))


@pytest.mark.parametrize(
    ("events", "title"),
    [
        ([said("A trip to Lisbon")], "A trip to Lisbon"),
        ([said("  A trip\n\tto  Lisbon ")], "A trip to Lisbon"),
        ([said("planning", author="root"), said("hello")], "hello"),
        ([said(" \n "), said("hello")], "hello"),
        ([from_("user", types.Part(text="secret", thought=True), types.Part(text="hello"))], "hello"),
        ([from_("user", types.Part(text="see"), PICTURE, types.Part(text="this"))], "see this"),
        ([from_("user", RESPONSE)], ""),
        ([from_("user", PICTURE)], ""),
        ([Event(author="user", invocation_id="e-1")], ""),
        ([Event(author="user", invocation_id="e-1", content=types.Content(role="user"))], ""),
        ([], ""),
        ([said("planning", author="root")], ""),
        ([said("x" * 80)], "x" * 80),
        ([said("x" * 81)], "x" * 79 + "…"),
        ([said("right\u202eleft")], "right⟨U+202E⟩left"),
    ],
)
def test_the_first_visible_text_of_a_user(events: list[Event], title: str) -> None:
    assert invocation_title(events) == title


@given(st.text())
def test_a_title_is_one_short_line(text: str) -> None:
    title = invocation_title([said(text)])
    assert len(title) <= LONGEST
    assert title == " ".join(title.split())
