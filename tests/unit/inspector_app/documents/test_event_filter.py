from __future__ import annotations

import pytest
from google.genai import types

from inspector_app.documents.event_filter import EventFilter, FilterError, read_filter
from inspector_app.presentation.value_filters import value_filters
from runtime.events import Event, EventActions


def said(text: str, author: str = "pricing") -> Event:
    return Event(
        author=author, content=types.Content(role="model", parts=[types.Part(text=text)]), actions=EventActions(state_delta={"k": 1})
    )


def wanted(text: str) -> EventFilter:
    found = read_filter(text)
    assert found is not None
    return found


def test_a_blank_text_is_not_a_filter() -> None:
    assert read_filter("  ") is None


@pytest.mark.parametrize("text", ["twelve", "TWELVE orders", '"twelve orders"', "ção", 'say "hi"', '"state_delta":{"k"'])
def test_plain_text_is_found_in_any_field(text: str) -> None:
    assert wanted(text).matches(said('twelve orders, informação, say "hi"'))
    assert not wanted(text).matches(Event(author="x"))


def test_a_condition_is_evaluated_on_the_event() -> None:
    assert wanted('author == "pricing" and text contains "twelve"').matches(said("twelve"))
    assert not wanted('author == "stock"').matches(said("twelve"))


def test_an_invalid_condition_is_refused_with_a_hint() -> None:
    with pytest.raises(FilterError, match="double quotes"):
        read_filter('author == and "x"')


def test_words_that_are_not_a_condition_are_searched_for() -> None:
    assert wanted("author").needle == "author"
    assert wanted("two words").needle == "two words"


def test_a_text_is_searched_for_in_both_spellings() -> None:
    found = wanted("ção").candidates
    assert found is not None and list(found.parameters.values()) == ["%ção%", "%\\\\u00e7\\\\u00e3o%"]


def test_a_condition_is_searched_for_by_what_it_requires() -> None:
    found = wanted('author == "pricing" and tokens < 5').candidates
    assert found is not None and list(found.parameters.values()) == ['%"pricing"%']
    found = wanted("tokens.prompt > 5 and (text)").candidates
    assert found is not None and list(found.parameters.values()) == [5]
    assert wanted("tokens < 5 and (text)").candidates is None


def test_every_value_suggests_a_filter_that_matches_its_event() -> None:
    call = types.FunctionCall(id="c", name="pay", args={"amount": 12.5, "to": 'the "bank"', "odd key": 1})
    answer = types.FunctionResponse(id="c", name="pay", response={"ok": True})
    parts = [types.Part(function_call=call), types.Part(function_response=answer)]
    event = Event(
        author="desk",
        branch="a.b",
        invocation_id="e-1",
        content=types.Content(role="model", parts=parts),
        actions=EventActions(state_delta={"user:x": 1}),
    )
    found = value_filters(event)
    assert len(found) == 10
    for words, text in found:
        assert wanted(text).matches(event), words
        assert not wanted(text).matches(Event(author="other", invocation_id="e-2")), words
