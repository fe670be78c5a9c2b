"""The user's replacement of a recorded answer or result."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from inspector_app.presentation.result_override import OverrideError, changed_in, overridable_text, overridden_content, readable_content
from runtime.events.event import Event
from runtime.forks.recording import Recording, recording_until


def event(*parts: types.Part, author: str = "desk") -> Event:
    return Event(author=author, invocation_id="e-1", content=types.Content(role="user" if author == "user" else "model", parts=list(parts)))


def result(call_id: str, **response: Any) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call_id, name="stock", response=response))


def recorded(last: Event) -> tuple[list[Event], Recording]:
    events = [event(types.Part(text="hello"), author="user"), last]
    return events, recording_until(events, last.id)


def test_a_result_is_edited_as_json() -> None:
    one = event(result("c1", left=310))
    assert overridable_text(one) == '{\n  "left": 310\n}'
    content = overridden_content(one, '{"left": 3}')
    assert [part.function_response.response for part in content.parts or [] if part.function_response] == [{"left": 3}]
    assert one.get_function_responses()[0].response == {"left": 310}, "the recorded event is unchanged"


def test_results_of_several_calls_are_edited_by_id() -> None:
    both = event(result("c1", left=1), result("c2", left=2))
    assert '"c2": {' in overridable_text(both)
    content = overridden_content(both, '{"c1": {"left": 1}, "c2": {"left": 0}}')
    assert [part.function_response.response for part in content.parts or [] if part.function_response] == [{"left": 1}, {"left": 0}]
    with pytest.raises(OverrideError, match="each of these calls: c1, c2"):
        overridden_content(both, '{"c1": {}}')
    with pytest.raises(OverrideError, match="Each result must be a JSON object"):
        overridden_content(both, '{"c1": {}, "c2": 5}')


def test_an_answer_is_edited_as_text_or_content() -> None:
    said = event(types.Part(text="Yes"))
    assert overridable_text(said) == "Yes"
    assert overridden_content(said, "No").parts == [types.Part(text="No")]
    called = event(types.Part(text="wait"), types.Part(function_call=types.FunctionCall(id="c1", name="stock", args={"sku": "P"})))
    again = overridable_text(called).replace('"P"', '"Q"')
    calls = [part.function_call for part in overridden_content(called, again).parts or [] if part.function_call]
    assert [call.args for call in calls] == [{"sku": "Q"}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "The answer is empty"),
        ('{"parts": 5}', "not the content of an answer"),
        ('{"role": "model"}', "An answer needs parts"),
        ('{"parts": [', "Line 1, column"),
        ('{"a": NaN}', "NaN is not a JSON number"),
    ],
)
def test_invalid_answers_are_rejected(text: str, problem: str) -> None:
    with pytest.raises(OverrideError, match=problem):
        overridden_content(event(types.Part(text="Yes")), text)


def test_invalid_results_are_rejected() -> None:
    for text in ("[]", "three left"):
        with pytest.raises(OverrideError):
            overridden_content(event(result("c1", left=310)), text)


def test_the_change_is_recorded_in_the_lineage() -> None:
    events, recording = recorded(event(result("c1", left=310)))
    assert changed_in(events, recording).what == "rerun"
    changed = changed_in(events, recording.with_override(overridden_content(events[-1], '{"left": 3}')))
    assert (changed.what, changed.event_id) == ("result", events[-1].id)
    assert (readable_content(changed.before), readable_content(changed.after)) == ({"left": 310}, {"left": 3})
    events, recording = recorded(event(types.Part(text="Yes")))
    changed = changed_in(events, recording.with_override(overridden_content(events[-1], "No")))
    assert (changed.what, readable_content(changed.before), readable_content(changed.after)) == ("answer", "Yes", "No")


@pytest.mark.parametrize("value", [None, "Hi", 5, {"parts": 5}, {"parts": [1]}, {"a": 1}])
def test_values_other_than_contents_are_unchanged(value: Any) -> None:
    assert readable_content(value) == value


def test_several_parts_are_listed() -> None:
    call = {"function_call": {"name": "stock", "args": {"sku": "P"}}}
    assert readable_content({"parts": [{"text": "a"}, {"text": "b"}]}) == "ab"
    assert readable_content({"parts": [{"text": "a"}, call]}) == ["a", {"stock(…)": {"sku": "P"}}]
