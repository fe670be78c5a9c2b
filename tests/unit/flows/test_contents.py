"""The conversation sent to an agent's model."""

from __future__ import annotations

from typing import Any

from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.events import Event, EventActions
from runtime.flows.contents import Conversation, copied


def said(author: str, text: str, **more: Any) -> Event:
    return Event(author=author, content=types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)]), **more)


def called(call_id: str, author: str = "me") -> Event:
    call = types.FunctionCall(id=call_id, name=f"tool_{call_id}", args={})
    return Event(author=author, content=types.Content(role="model", parts=[types.Part(function_call=call)]))


def answered(call_id: str, value: str, author: str = "me") -> Event:
    response = types.FunctionResponse(id=call_id, name=f"tool_{call_id}", response={"result": value})
    return Event(author=author, content=types.Content(role="user", parts=[types.Part(function_response=response)]))


def with_text(event: Event, text: str) -> Event:
    assert event.content is not None and event.content.parts is not None
    event.content.parts.append(types.Part(text=text))
    return event


def lines(contents: list[types.Content]) -> list[str]:
    """Return one line per content."""
    shown = []
    for content in contents:
        words = []
        for part in content.parts or []:
            if part.text:
                words.append(part.text)
            elif part.function_call:
                words.append(f"call {part.function_call.name}")
            elif part.function_response:
                words.append(f"{part.function_response.name}={(part.function_response.response or {}).get('result')}")
        shown.append(f"{content.role}: {' | '.join(words)}")
    return shown


def seen(*events: Event, branch: str | None = None, **more: Any) -> list[str]:
    return lines(Conversation("me", branch).contents(list(events), **more))


def test_own_and_user_messages_keep_their_roles() -> None:
    assert seen(said("user", "hi"), said("me", "hello")) == ["user: hi", "model: hello"]


def test_events_of_other_agents_become_context() -> None:
    assert seen(said("other", "x"), called("1", "other"), answered("1", "y", "other")) == [
        "user: For context: | [other] said: x",
        "user: For context: | [other] called tool `tool_1` with {}",
        'user: For context: | [other] got from tool `tool_1`: {"result": "y"}',
    ]


def test_the_newest_response_follows_its_call() -> None:
    events = [
        called("1"),
        answered("1", "pending"),
        said("me", "wait"),
        said("user", "ok"),
        answered("1", "done", "user"),
        said("user", "?"),
    ]
    assert seen(*events) == ["model: call tool_1", "user: tool_1=done", "model: wait", "user: ok", "user: ?"]


def test_a_text_beside_a_response_stays_beside_it() -> None:
    answer = with_text(answered("1", "sure"), "sure")
    answer.content.parts += answered("2", "no").content.parts  # type: ignore[union-attr, operator]
    call = called("1")
    call.content.parts += called("2").content.parts  # type: ignore[union-attr, operator]
    asked = ["user: hi", "model: call tool_1 | call tool_2"]
    assert seen(said("user", "hi"), call, answer, said("user", "?")) == [*asked, "user: tool_1=sure | sure | tool_2=no", "user: ?"]
    assert seen(said("user", "hi"), call, answer, answered("1", "sorry")) == [*asked, "user: tool_1=sorry | tool_2=no"]


def test_messages_between_a_call_and_its_final_response_are_left_out() -> None:
    events = [said("user", "go"), called("1"), answered("1", "pending"), said("me", "wait"), answered("1", "done", "user")]
    assert seen(*events) == ["user: go", "model: call tool_1", "user: tool_1=done"]


def test_a_call_without_a_response_is_left_out() -> None:
    assert seen(said("user", "go"), called("1"), said("user", "again")) == ["user: go", "user: again"]


def test_a_call_that_waits_for_its_response_is_not_left_out() -> None:
    waits = called("1").model_copy(update={"long_running_tool_ids": {"1"}})
    assert seen(said("user", "go"), waits, said("user", "again")) == ["user: go", "model: call tool_1", "user: again"]


def test_a_content_without_a_role_is_left_out() -> None:
    bare = Event(author="other", content=types.Content(parts=[types.Part(text="skipped")]))
    assert seen(said("user", "go"), bare) == ["user: go"]


def thought(author: str, *said: str, **more: Any) -> Event:
    parts = [types.Part(text="hm", thought=True, **more), *(types.Part(text=text) for text in said)]
    return Event(author=author, content=types.Content(role="model", parts=parts))


def test_an_event_of_thoughts_alone_is_left_out_unless_the_model_signed_it() -> None:
    assert seen(said("user", "hi"), thought("me"), thought("me", "hello"), thought("me", thought_signature=b"1")) == [
        "user: hi",
        "model: hm | hello",
        "model: hm",
    ]


def test_thoughts_of_other_agents_are_reported_if_wanted() -> None:
    events = [thought("other"), thought("other", "done"), thought("me")]
    assert seen(*events) == ["user: For context: | [other] said: done"]
    assert lines(Conversation("me", None, with_thoughts=True).contents(events)) == [
        "user: For context: | [other] thought: hm",
        "user: For context: | [other] thought: hm | [other] said: done",
    ]


def test_an_agent_on_no_branch_sees_all_branches() -> None:
    events = [said("user", "go"), said("a", "one", branch="p.a"), said("b", "two", branch="p.b")]
    assert seen(*events) == ["user: go", "user: For context: | [a] said: one", "user: For context: | [b] said: two"]


def test_events_of_sibling_branches_are_not_seen() -> None:
    events = [said("user", "go"), said("a", "mine", branch="p.a"), said("b", "not mine", branch="p.b"), said("c", "above", branch="p")]
    assert seen(*events, branch="p.a.deeper") == ["user: go", "user: For context: | [a] said: mine", "user: For context: | [c] said: above"]


def test_present_turn_only() -> None:
    events = [said("user", "old"), said("me", "old answer"), said("user", "new"), called("1"), answered("1", "x")]
    assert seen(*events, present_turn_only=True) == ["user: new", "model: call tool_1", "user: tool_1=x"]


def test_rewound_events_are_not_seen() -> None:
    events = [
        said("user", "one", invocation_id="1"),
        said("user", "two", invocation_id="2"),
        Event(author="user", invocation_id="3", actions=EventActions(rewind_before_invocation_id="2")),
        said("user", "three", invocation_id="4"),
    ]
    assert seen(*events) == ["user: one", "user: three"]


def test_ids_assigned_by_the_runtime_are_not_sent() -> None:
    events = [called("adk-1"), answered("adk-1", "x"), called("own"), answered("own", "y")]
    contents = Conversation("me", None).contents(events)
    ids = [part.function_call.id for content in contents for part in content.parts or [] if part.function_call]
    assert ids == [None, "own"]
    assert events[0].get_function_calls()[0].id == "adk-1"


def test_changing_a_copy_does_not_change_the_events() -> None:
    event = said("user", "hi")
    copy = copied(Conversation("me", None).contents([event]))
    assert copy[0].parts is not None
    copy[0].parts[0].text = "changed"
    copy[0].parts.append(types.Part(text="more"))
    assert seen(event) == ["user: hi"]


def _events() -> st.SearchStrategy[Event]:
    ids, authors = st.sampled_from(["1", "2", "3"]), st.sampled_from(["me", "user", "other"])
    invocation = st.sampled_from(["a", "b", "c"])
    return st.one_of(
        st.builds(said, authors, st.sampled_from(["", "x", "y"]), invocation_id=invocation),
        st.builds(called, ids, st.sampled_from(["me", "other"])),
        st.builds(answered, ids, st.sampled_from(["r", "s"]), authors),
        st.builds(lambda event: with_text(event, "beside"), st.builds(answered, ids, st.just("t"), authors)),
        st.builds(lambda of: Event(author="user", actions=EventActions(rewind_before_invocation_id=of)), invocation),
    )


@settings(deadline=None)
@given(st.lists(_events(), max_size=14), st.booleans())
def test_extending_equals_rebuilding(events: list[Event], present_turn_only: bool) -> None:
    growing = Conversation("me", None)
    for count in range(len(events) + 1):
        fresh = Conversation("me", None).contents(events[:count], present_turn_only=present_turn_only)
        assert lines(growing.contents(events[:count], present_turn_only=present_turn_only)) == lines(fresh)


def test_what_was_spoken_in_a_live_conversation_is_a_message() -> None:
    heard = [Event(author="user", input_transcription=types.Transcription(text=text)) for text in ("what ", "time")]
    assert seen(*heard, Event(author="me", output_transcription=types.Transcription(text="noon"))) == ["user: what time", "model: noon"]
