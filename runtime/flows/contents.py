"""The conversation sent to an agent's model."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from google.genai import types
from pydantic import BaseModel

from runtime.events.event import Event
from runtime.events.marks import REQUEST_CALLS, asks_for_inner_run
from runtime.flows.summaries import with_summaries
from runtime.history.rewound import without_rewound
from runtime.sessions.state import independent
from runtime.support.structural_copy import structural_copy
from runtime.support.unchecked import construct_unchecked, copy_unchecked

_CLIENT_ID = "adk-"


class Conversation:
    """A session's events as contents for one agent's model, extended as the session grows.

    Each event is converted once: rebuilding thousands of contents for each model call would make long sessions slow. The contents are
    copies of the events' contents, but later requests share them, so callbacks get copies of their own (`copied`).

    Args:
        agent_name: the agent; events of other agents become context in the user role.
        branch: the agent's branch; events of sibling branches are left out. An agent on no branch, such as one after a ParallelAgent,
            sees all events.
        with_thoughts: tell the agent the thoughts of other agents.
        invocation_id: a resumed invocation, whose events no summary replaces.
    """

    def __init__(self, agent_name: str, branch: str | None, with_thoughts: bool = False, invocation_id: str | None = None) -> None:
        self._agent_name = agent_name
        self._branch = branch
        self._with_thoughts = with_thoughts
        self._invocation_id = invocation_id
        self._lock = threading.Lock()  # two runs of one session may be on two threads
        self._clear()

    def _clear(self) -> None:
        self._read = 0
        self._summarised: set[str | None] = set()  # ids of the calls that summaries replace
        self._said: list[tuple[Event, int]] = []  # each visible event, and the index of its first content
        self._contents: list[types.Content] = []
        self._responses: dict[str | None, types.FunctionResponse] = {}  # the newest one of each call
        self._callers: dict[str | None, int] = {}  # call id → index of its event in _said
        self._beside: dict[str | None, list[types.Part]] = {}  # call id → the parts that follow its response in the event

    def contents(self, events: Sequence[Event], *, present_turn_only: bool = False) -> list[types.Content]:
        """Return the contents to send to the model.

        Args:
            events: the session's events in commit order; an extension of those of the last call.
            present_turn_only: begin at the last event of the user or another agent (`include_contents="none"`).

        Returns:
            A new list, in order; each function call is followed by its newest response. Calls without a response are left out, except
            long-running ones.
        """
        with self._lock:
            self._extend(events)
            first = self._present_turn() if present_turn_only else 0
            wait = self._wait_before_answer(first)
            if wait is not None:
                shortened = Conversation(self._agent_name, self._branch, self._with_thoughts)
                return shortened.contents(wait)
            return self._contents[self._said[first][1] if first else 0 :]

    def _extend(self, events: Sequence[Event]) -> None:
        if len(events) < self._read:
            self._clear()
        for index in range(self._read, len(events)):
            event = events[index]
            if (
                event.actions.rewind_before_invocation_id is not None
                or event.actions.compaction is not None
                or (self._summarised and any(response.id in self._summarised for response in event.get_function_responses()))
            ):
                self._clear()
                present = without_rewound(events[: index + 1])
                shown = with_summaries(present, self._invocation_id)
                self._summarised = _call_ids(present) - _call_ids(shown)
                for left in shown:
                    self._add(left)
            else:
                self._add(event)
        self._read = len(events)

    def _add(self, event: Event) -> None:
        event = self._with_speech_before(event)
        with_thoughts = self._with_thoughts and event.author not in ("user", self._agent_name)
        if not _is_sent(event, with_thoughts) or not (_is_visible(event, self._branch) or self._answers_own_call(event)):
            return
        first = here = len(self._said)
        beside: list[types.Part] | None = None
        for part in event.content.parts if event.content and event.content.parts else ():
            call, response = part.function_call, part.function_response
            if response:
                self._responses[response.id] = structural_copy(response)
                first = min(first, self._callers.get(response.id, first))
                beside = self._beside[response.id] = []
            elif beside is not None and event.author == self._agent_name:
                beside.append(structural_copy(part))
            if call and event.author == self._agent_name and call.name not in REQUEST_CALLS:
                self._callers[call.id] = here
        event = copy_unchecked(event, content=structural_copy(event.content))  # a model's client may change its request in place
        again = [event]
        if first < here:
            # A response must directly follow its call: rebuild the contents from the call on, which is seldom more than one event.
            again = [*(said for said, _ in self._said[first:]), event]
            del self._contents[self._said[first][1] :]
            del self._said[first:]
        for said in again:
            self._said.append((said, len(self._contents)))
            self._contents.extend(self._contents_of(said))

    def _contents_of(self, event: Event) -> list[types.Content]:
        assert event.content is not None  # _is_sent
        parts = event.content.parts or []
        if event.author == "user":
            said = [part for part in parts if not part.function_response]
            # Of the same class: programs compare contents with the `types.UserContent` that they sent.
            return [construct_unchecked(type(event.content), role="user", parts=said)] if said else []
        if event.author != self._agent_name:
            return as_context(event, parts, self._with_thoughts)
        said, answers = [], []
        is_sent = False  # whether the parts have been sent beside the response before them
        for part in parts:
            call, response = part.function_call, part.function_response
            if response:
                is_sent = response.id in self._callers
            if is_sent or response or (call and (call.name in REQUEST_CALLS or not _is_known(event, call, self._responses))):
                continue
            said.append(_without_client_id(part))
            if call and call.id in self._responses:
                answers += [_response_part(call, self._responses[call.id]), *self._beside[call.id]]
        contents = [_content(event.content.role or "model", said)] if said else []
        return [*contents, _content("user", answers)] if answers else contents

    def _with_speech_before(self, event: Event) -> Event:
        """Return the transcript of live audio as a message, joined with the one before it if that has the same speaker."""
        heard, said = event.input_transcription, event.output_transcription
        text = ((heard or said).text if heard or said else None) or ""  # type: ignore[union-attr]  # one of them is there
        if event.content is not None or not text:
            return event
        before = self._said[-1][0] if self._said else None
        if (
            before is not None
            and (before.input_transcription is None, before.output_transcription is None) == (heard is None, said is None)
            and before.branch == event.branch
            and before.content is not None
            and before.content.parts
        ):
            text = f"{before.content.parts[0].text}{text}"
            del self._contents[self._said.pop()[1] :]
        content = _content("user" if heard else "model", [_text(text)])
        return copy_unchecked(event, author="user" if heard else event.author, content=content)

    def _answers_own_call(self, event: Event) -> bool:
        """Return whether a message that belongs to another branch also answers a call of this conversation."""
        return event.author == "user" and any(response.id in self._callers for response in event.get_function_responses())

    def _present_turn(self) -> int:
        """Return the index of the current turn's first event: the last one by the user or another agent.

        Responses and transfers do not begin a turn: an agent that was transferred to also gets the message that it should answer.
        """
        for index in range(len(self._said) - 1, -1, -1):
            event = self._said[index][0]
            is_response = event.author == "user" and event.get_function_responses()
            if event.author != self._agent_name and not is_response and not _is_transfer(event):
                return index
        return 0

    def _wait_before_answer(self, first: int) -> list[Event] | None:
        """Return the events from `first` on, without those between a long-running call and its response.

        None if the last event is not such a response, or if only responses are in between. Models require the last response directly after
        its call.
        """
        last = self._said[-1][0] if self._said else None
        if last is None:
            return None
        callers = [self._callers[response.id] for response in last.get_function_responses() if response.id in self._callers]
        if not callers:
            return None
        after_call = max(callers) + 1
        between = [event for event, _ in self._said[after_call:-1]]
        responses = [event for event in between if event.get_function_responses()]
        if len(responses) == len(between):
            return None
        return [*(event for event, _ in self._said[first:after_call]), *responses, last]


def copied(contents: Sequence[types.Content]) -> list[types.Content]:
    """Return a copy of contents that may be changed without changing later requests."""
    return [
        copy_unchecked(content, parts=[_copied_part(part) for part in content.parts] if content.parts is not None else None)
        for content in contents
    ]


def _copied_part(part: types.Part) -> types.Part:
    own: dict[str, Any] = {name: copy_unchecked(value) for name, value in part.__dict__.items() if isinstance(value, BaseModel)}
    call, response = part.function_call, part.function_response
    if call and call.args:
        own["function_call"] = copy_unchecked(call, args=independent(call.args))
    if response and response.response:
        own["function_response"] = copy_unchecked(response, response=independent(response.response))
    return copy_unchecked(part, **own)


def _is_sent(event: Event, with_thoughts: bool) -> bool:
    # Models never see contents without a role, such as a callback's `types.Content(parts=...)`: the same in google-adk.
    content = event.content
    return (
        content is not None
        and bool(content.role)
        and not event.partial
        and any(_is_part_sent(part, with_thoughts) for part in content.parts or ())
        and not asks_for_inner_run(event)
    )


def _call_ids(events: Sequence[Event]) -> set[str | None]:
    return {call.id for event in events for call in event.get_function_calls()}


def _is_transfer(event: Event) -> bool:
    return event.actions.transfer_to_agent is not None or any(call.name == "transfer_to_agent" for call in event.get_function_calls())


def _is_part_sent(part: types.Part, with_thoughts: bool) -> bool:
    """Return whether an event with only this part is sent; other parts are sent with it."""
    of_function = part.function_call or part.function_response
    if of_function:  # requests for confirmation and credentials, and their answers, are never sent to models
        return of_function.name not in REQUEST_CALLS
    if part.thought_signature:  # the model wants it back
        return True
    return part.text != "" and (with_thoughts or not part.thought)


def _is_visible(event: Event, branch: str | None) -> bool:
    """Return whether an agent on `branch` sees an event: one of its own branch or a parent branch; on no branch, all events."""
    if not branch or not event.branch or event.branch == branch:
        return True
    return branch.startswith(event.branch + ".")


def _is_known(event: Event, call: types.FunctionCall, responses: dict[str | None, types.FunctionResponse]) -> bool:
    """Return whether a model learns of its call: a call whose run was interrupted is left out, but not one that waits for its answer."""
    return call.id in responses or call.id in (event.long_running_tool_ids or ())


def _content(role: str, parts: list[types.Part]) -> types.Content:
    return construct_unchecked(types.Content, role=role, parts=parts)


def _text(text: str) -> types.Part:
    return construct_unchecked(types.Part, text=text)


def _without_client_id(part: types.Part) -> types.Part:
    """Return the part without a call id assigned by this runtime, which the model does not know."""
    call = part.function_call
    if not call or not (call.id or "").startswith(_CLIENT_ID):
        return part
    return copy_unchecked(part, function_call=copy_unchecked(call, id=None))


def _response_part(call: types.FunctionCall, response: types.FunctionResponse) -> types.Part:
    own_id = None if (call.id or "").startswith(_CLIENT_ID) else call.id
    return construct_unchecked(types.Part, function_response=copy_unchecked(response, id=own_id, name=call.name))


def as_context(event: Event, parts: Sequence[types.Part], with_thoughts: bool = False) -> list[types.Content]:
    """Return another agent's event as context in the user role; an empty list if none of it is for others.

    Args:
        event: the event.
        parts: those of its parts that others may see.
        with_thoughts: tell the texts of its thoughts too.
    """
    told = [_text("For context:")]
    for part in parts:
        if part.thought:
            if with_thoughts and part.text and part.text.strip():
                told.append(_text(f"[{event.author}] thought: {part.text}"))
        elif part.text:
            told.append(_text(f"[{event.author}] said: {part.text}"))
        elif part.function_call:
            if part.function_call.name not in REQUEST_CALLS:
                told.append(_text(f"[{event.author}] called tool `{part.function_call.name}` with {_json(part.function_call.args)}"))
        elif part.function_response:
            if part.function_response.name not in REQUEST_CALLS:
                answer = part.function_response
                told.append(_text(f"[{event.author}] got from tool `{answer.name}`: {_json(answer.response)}"))
        else:
            told.append(part)
    return [_content("user", told)] if len(told) > 1 else []


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
