"""A model request as a document."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.detail.prompt_events import prompt_events
from inspector_app.detail.request_document import MOST_MESSAGES, MOST_TEXT, MOST_TOGETHER, Sources, request_document, signature
from inspector_app.detail.view_data import Section
from inspector_app.documents.instruction_sources import placed_values
from runtime.events import Event, EventActions
from runtime.storage.recordings.recorded_call import RecordedModelRequest
from tests.unit.inspector_app.detail.test_fields_html import json_values

QUOTED = "[clerk] said:\n<<<BEGIN_QUOTED_AGENT_CONTENT>>>\nIt is noted.\n<<<END_QUOTED_AGENT_CONTENT>>>"


def request(*contents: Any, texts: dict[str, Any] | None = None, **config: Any) -> RecordedModelRequest:
    return RecordedModelRequest("m", config, contents, None, texts or {})


def content(*texts: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


def event(author: str, text: str = "", **more: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, content=types.Content(role=role, parts=[types.Part(text=text)]) if text else None, **more)


def plain(section: Section | None) -> str:
    """Return what is read of a section, with added words between `+` and removed ones between `-`."""
    html = section.html if section is not None else ""
    html = re.sub(r'<(span|div) class="added">', "+", html)
    html = re.sub(r'<(span|div) class="removed gone">', "-", html)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<br>|<[^>]*>", " ", html)).replace("\xa0", " ")).strip()


def sources(asked: RecordedModelRequest, events: list[Event], before: RecordedModelRequest | None = None) -> Sources:
    return Sources(asked, events[-1], before, prompt_events(events, len(events) - 1, asked))


@pytest.mark.parametrize(
    ("text", "written", "known", "expected"),
    [
        ("Pay in USD now.", "Pay in {currency} now.", {}, [("USD", "currency")]),
        ("A, B", "{first}, {second}", {}, [("A", "first"), ("B", "second")]),
        ("a, b, c", "{first}, {second}", {"first": ["a, b"]}, [("a, b", "first"), ("c", "second")]),
        ("Say  now", "Say {what?} now", {}, []),
        ("nothing", "nothing", {}, []),
        ("x", {"function": "make"}, {}, []),
        ("Hi Ana!", "Hi {{user:name}}!", {}, [("Ana", "user:name")]),
        ("Other words", "Pay in {currency}.", {}, []),
    ],
)
def test_values_in_an_instruction_are_found(text: str, written: Any, known: dict[str, list[str]], expected: list[tuple[str, str]]) -> None:
    found = placed_values(text, {"instruction": written}, lambda key: known.get(key, ()))
    assert [(text[start:end], key) for start, end, key in found] == expected


@given(
    st.lists(st.tuples(st.text("ab, .", max_size=5), st.sampled_from("xyz"), st.text("ab, .", max_size=6)), max_size=4),
    st.text("ab, .", max_size=5),
)
def test_values_that_were_put_in_are_apart_and_in_order(pieces: list[tuple[str, str, str]], end: str) -> None:
    written = "".join(f"{before}{{{key}}}" for before, key, _ in pieces) + end
    text = "".join(f"{before}{value}" for before, _, value in pieces) + end
    places = placed_values(text.strip(), {"instruction": written}, lambda key: [value for _, name, value in pieces if name == key])
    flat = [place for start, stop, _ in places for place in (start, stop)]
    assert flat == sorted(flat) and all(start < stop for start, stop, _ in places)


def test_a_value_is_marked_and_linked_to_the_event_that_wrote_it() -> None:
    events = [
        event("clerk", actions=EventActions(state_delta={"currency": "USD"})),
        event("clerk", actions=EventActions(state_delta={"currency": "EUR"})),
        event("guide", "Done."),
    ]
    document = request_document(sources(request(system_instruction="Pay in USD.", texts={"instruction": "Pay in {currency}."}), events))
    html = document.whole["instruction"].html
    assert plain(document.whole["instruction"]) == "Pay in USD {currency} event 1 ." and 'href="inspector:event/0"' in html
    assert '<span class="selected">USD</span>' in html


def test_messages_have_their_authors_and_no_preface() -> None:
    events = [
        event("user", "Hello"),
        event("clerk", "It is noted."),
        event("clerk", branch="a.clerk", text="Aside."),
        event("guide", "Yes."),
    ]
    events[-1].branch = "a.guide"
    asked = request(content("Hello"), content("For context:", QUOTED))
    document = request_document(sources(asked, events))
    shown = plain(document.whole["conversation"])
    assert shown.startswith("1 Hello user event 1 2 It is noted. clerk event 2")
    assert "Left out: event 3 · it is on another branch, a.clerk" in shown
    assert document.whole["conversation"].aside == "2 messages" and document.since is None
    assert plain(document.whole["answer"]) == "Yes."


def test_a_user_may_write_like_another_agent() -> None:
    text = "[clerk] said: pay me"
    shown = plain(request_document(sources(request(content(text)), [event("user", text), event("guide", "No.")])).whole["conversation"])
    assert shown == f"1 {text} user event 1"


def test_what_is_new_is_added_and_what_was_removed_is_struck() -> None:
    tool = {"name": "look", "description": "Look."}
    before = request(content("a"), content("b"), system_instruction="Pay in EUR.\n\nBe brief.", tools=[{"function_declarations": [tool]}])
    now = request(content("a"), content("c"), content("d"), system_instruction="Pay in USD.\n\nBe brief.", temperature=0.5)
    document = request_document(sources(now, [event("user", "a"), event("guide", "x")], before))
    since = document.since
    assert since is not None and not document.is_same
    assert plain(since["instruction"]) == "Pay in -EUR +USD . ··· 1 unchanged paragraph"
    assert plain(since["tools"]) == "- look() Look."
    assert plain(since["settings"]) == "+ temperature 0.5"
    assert since["conversation"].aside == "3 messages · 2 new"
    assert 'class="removed"' in since["conversation"].html and since["conversation"].html.count('class="added"') == 2
    assert "··· 1 unchanged message" in plain(since["conversation"])
    same = request_document(sources(now, [event("guide", "x")], now))
    assert same.is_same and same.since is not None and set(same.since) == {"conversation", "answer"}


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ({"parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}}, "f(city: string)"),
        ({"parameters_json_schema": {"properties": {"n": {"type": "integer"}}}}, "f(n?: integer)"),
        ({"parameters": {"properties": {"tags": {"type": "ARRAY", "items": {"type": "STRING"}}}}}, "f(tags?: list of string)"),
        ({"parameters": {"properties": {"how": {"enum": ["a", "b"], "type": "STRING"}}}}, 'f(how?: "a" | "b")'),
        ({"parameters": {"properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}}, "f(x?: integer | null)"),
        ({"description": "Go.", "response": {"type": "STRING"}}, "f()"),
        ({}, "f()"),
        ({"google_search": {}}, "f {google_search: {}}"),
        ("odd", "f"),
    ],
)
def test_a_tool_is_a_signature(declaration: Any, expected: str) -> None:
    assert signature("f", declaration) == expected


@given(st.lists(json_values, max_size=4), st.dictionaries(st.sampled_from(["system_instruction", "tools", "temperature"]), json_values))
def test_any_recorded_json_is_a_document(contents: list[Any], config: dict[str, Any]) -> None:
    now = RecordedModelRequest(None, config, tuple(contents), None)
    before = RecordedModelRequest("m", {}, (*contents[:1], {"role": 1, "parts": [{"text": "<i>"}]}), None)
    document = request_document(Sources(now, event("guide", "<b>x"), before))
    assert document.since is not None
    for section in (*document.whole.values(), *document.since.values()):
        assert not re.search(r"<[bi]>", section.html)


def test_what_is_new_in_a_long_conversation_is_cut_too() -> None:
    before, now = (request(*(content(f"{word} {number} " * 500) for number in range(300))) for word in ("old", "new"))
    document = request_document(sources(now, [event("guide", "x")], before))
    assert document.since is not None and len(document.since["conversation"].html) < 4 * MOST_TOGETHER
    assert plain(document.since["conversation"]).count("more messages, see JSON") == 2


def test_very_many_tools_are_cut() -> None:
    tools = [{"function_declarations": [{"name": f"t{number}", "description": "Do it. " * 400} for number in range(3_000)]}]
    shown = request_document(sources(request(tools=tools), [event("guide", "x")])).whole["tools"]
    assert len(shown.html) < 60_000 and plain(shown).endswith("… 2,900 more, see JSON")


def test_long_conversations_and_texts_are_cut() -> None:
    document = request_document(Sources(request(*(content("x" * 10_000) for _ in range(500))), event("guide", "y" * 100_000)))
    shown = document.whole["conversation"]
    assert len(plain(shown)) < 2 * MOST_TOGETHER
    assert f"… {500 - MOST_MESSAGES:,} earlier messages, see JSON" in plain(shown)
    assert len(document.whole["answer"].html) < MOST_TEXT + 100
