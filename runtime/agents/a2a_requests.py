"""What an A2A agent is asked: the answer to its question, or the events since its last answer. Loads the package a2a-sdk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from a2a import types as a2a
from google.genai import types

from runtime.agents.a2a_events import CREDENTIAL_QUESTION, INPUT_QUESTION, PREFIX, as_list
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event
from runtime.events.marks import CREDENTIAL_CALL
from runtime.flows.contents import as_context
from runtime.flows.llm_flows.functions import find_matching_function_call
from runtime.history.rewound import without_rewound
from runtime.support.ids import new_uuid

_SECRETS = frozenset({CREDENTIAL_CALL, CREDENTIAL_QUESTION})  # their responses have credentials, which stay here
_WAITING = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED", "input-required", "auth-required")


@dataclass(frozen=True)
class Requests:
    """Makes the messages to one remote agent.

    Attributes:
        agent_name: the agent here.
        write_part: makes parts of messages from parts of contents.
        full_history: send all events each time to an agent that gives no context id.
        context_builder: the function of the same name that a program gave; None for what google-adk sends.
    """

    agent_name: str
    write_part: Callable[[types.Part], Any]
    full_history: bool = False
    context_builder: Callable[..., Any] | None = None

    def next_message(self, ctx: InvocationContext) -> Any:
        """Return the message to send, an `a2a.types.Message`; None if there is nothing to send.

        Args:
            ctx: the invocation; its user message is committed.
        """
        events = without_rewound(ctx.session.events)
        answer = self._answer(events)
        if answer is not None:
            return answer
        if self.context_builder is not None:
            parts, context_id = self.context_builder(ctx, self.agent_name, self.write_part)
        else:
            parts, context_id = self._since_its_answer(events)
        if not parts:
            return None
        task_id = self._paused_task(events, context_id) if context_id else None
        return _message(parts, context_id, task_id)

    def _answer(self, events: Sequence[Event]) -> Any:
        """Return the user's answer to a question of the remote agent; None if the last event is none."""
        if not events or events[-1].author != "user":
            return None
        question = find_matching_function_call(events)
        if question is None or not self._is_remote(question):
            return None
        names = {call.id: call.name for call in question.get_function_calls()}
        given = [(part, part.function_response) for part in (events[-1].content and events[-1].content.parts) or []]
        in_words = {CREDENTIAL_CALL, CREDENTIAL_QUESTION, INPUT_QUESTION}
        kept = [part for part, result in given if result and names.get(result.id) not in in_words]
        if not kept:  # a question in words: its answer is words
            spoken = [result.response for _, result in given if result and names.get(result.id) == INPUT_QUESTION]
            kept = [part for part, result in given if not result]
            kept += [types.Part(text=text) for response in spoken if (text := _as_text(response)) is not None]
        converted = [one for part in kept for one in as_list(self.write_part(part))]
        marks = question.custom_metadata or {}
        return _message(converted, marks.get(f"{PREFIX}context_id"), marks.get(f"{PREFIX}task_id")) if converted else None

    def _since_its_answer(self, events: Sequence[Event]) -> tuple[list[Any], str | None]:
        """Return the parts of the events since the remote agent's last answer, and the id of its context."""
        start, context_id = 0, None
        for index in range(len(events) - 1, -1, -1):
            if self._is_remote(events[index]):
                context_id = (events[index].custom_metadata or {}).get(f"{PREFIX}context_id")
                if not self.full_history or context_id:
                    start = index + 1
                    break
        own_calls = {call.id for event in events if event.author == self.agent_name for call in event.get_function_calls()}
        return [part for event in events[start:] for part in self._parts_of(event, own_calls)], context_id

    def _parts_of(self, event: Event, own_calls: set[str | None]) -> Iterator[Any]:
        parts = [part for part in (event.content and event.content.parts) or [] if not _has_credential(part)]
        if event.author not in ("user", self.agent_name):
            parts = [part for content in as_context(event, parts) for part in content.parts or []]
        for part in parts:
            answer = part.function_response
            if answer and answer.id not in own_calls:  # the remote agent would look for its call
                part = types.Part(text=f"Tool {answer.name} returned: {json.dumps(answer.response, default=str)}")
            for converted in as_list(self.write_part(part)):
                if event.author == "user":
                    converted.metadata["is_user_input"] = True
                yield converted

    def _is_remote(self, event: Event) -> bool:
        return event.author == self.agent_name and f"{PREFIX}response" in (event.custom_metadata or {})

    def _paused_task(self, events: Sequence[Event], context_id: str) -> str | None:
        """Return the id of the task that waits for an answer in a context; None if the last one does not wait."""
        for event in reversed(events):
            marks = event.custom_metadata or {}
            if event.author == self.agent_name and event.error_message and f"{PREFIX}request" in marks:
                return None
            if self._is_remote(event):
                state = (marks[f"{PREFIX}response"].get("status") or {}).get("state")
                waits = marks.get(f"{PREFIX}context_id") == context_id and state in _WAITING
                return marks.get(f"{PREFIX}task_id") if waits else None
        return None


def _message(parts: list[Any], context_id: str | None, task_id: str | None) -> Any:
    return a2a.Message(message_id=new_uuid(), role="ROLE_USER", parts=parts, context_id=context_id or "", task_id=task_id or "")


def _has_credential(part: types.Part) -> bool:
    return any(about is not None and about.name in _SECRETS for about in (part.function_call, part.function_response)) and not (
        part.function_call and part.function_call.name == CREDENTIAL_QUESTION
    )


def _as_text(response: dict[str, Any] | None) -> str | None:
    if not response:
        return None
    if set(response) == {"result"}:
        return None if response["result"] is None else str(response["result"])
    return json.dumps(response, default=str)
