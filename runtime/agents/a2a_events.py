"""Answers of an A2A agent as events, as google-adk stores them. Loading this module loads the package a2a-sdk."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from a2a import types as a2a
from a2a.server.tasks.task_manager import append_artifact_to_task
from google.genai import types

from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event
from runtime.support.a2a_messages import LONG_RUNNING, as_json, state_named

PREFIX = "a2a:"  # before the protocol's facts in an event's `custom_metadata`
INPUT_QUESTION = "mock_function_call_for_required_user_input"  # the call that represents a remote agent's question
CREDENTIAL_QUESTION = "mock_function_call_for_required_user_auth"

_UNFINISHED = frozenset({state_named("submitted"), state_named("working")})
UNANSWERED = _UNFINISHED | {a2a.TaskState.Value("TASK_STATE_UNSPECIFIED")}  # a stream that ends in such a state was cut
_LAST = frozenset({state_named(name) for name in ("completed", "failed", "canceled", "rejected", "input_required", "auth_required")})
_ENDED = frozenset({state_named(name) for name in ("completed", "failed", "canceled")})
_QUESTIONS = {
    state_named("input_required"): (INPUT_QUESTION, "input_required"),
    state_named("auth_required"): (CREDENTIAL_QUESTION, "auth_required"),
}


@dataclass
class Answers:
    """Reads the items of one answer's stream.

    Attributes:
        agent_name: the author of the events.
        ctx: the invocation.
        read_part: makes parts of contents from parts of messages.
        task: the remote agent's task as far as its stream told; None if it answered with a message alone.
    """

    agent_name: str
    ctx: InvocationContext
    read_part: Callable[[Any], Any]
    task: Any = None

    def read(self, item: Any) -> Event | None:
        """Return the event of an item; None for one that says nothing new.

        Args:
            item: an `a2a.types.StreamResponse`.
        """
        kind = item.WhichOneof("payload")
        event: Event | None
        if kind == "message":
            event, known, answer = self._of_message(item.message), item.message, item.message
        elif kind is None:
            return None
        else:
            self._remember(kind, getattr(item, kind))
            read = {"task": self._of_task, "status_update": self._of_status, "artifact_update": self._of_artifact}[kind]
            event, known, answer = read(getattr(item, kind)), self.task, self.task
        if event is None:
            return None
        marks = {f"{PREFIX}task_id": known.id} if kind != "message" else {}
        if known.context_id:
            marks[f"{PREFIX}context_id"] = known.context_id
        event.custom_metadata = {**marks, f"{PREFIX}response": as_json(answer)}
        parts = (event.content and event.content.parts) or []
        if said := [part for part in parts if not part.thought]:
            event.content = types.Content(role=event.content.role if event.content else None, parts=said)
        return event

    def _remember(self, kind: str, update: Any) -> None:
        if kind == "task":
            task = a2a.Task()
            task.CopyFrom(update)
            known = {artifact.artifact_id for artifact in task.artifacts}
            if self.task is not None:
                task.artifacts.extend(artifact for artifact in self.task.artifacts if artifact.artifact_id not in known)
            self.task = task
            return
        if self.task is None:
            self.task = a2a.Task(id=update.task_id, context_id=update.context_id)
        if kind == "artifact_update":
            append_artifact_to_task(self.task, update)
            return
        if update.status.HasField("message"):
            self.task.history.append(update.status.message)
        self.task.status.CopyFrom(update.status)
        self.task.metadata.MergeFrom(update.metadata)

    def _of_task(self, task: Any) -> Event:
        told = [part for artifact in task.artifacts for part in artifact.parts]
        if not told and task.status.message.parts:
            event = self._of_message(task.status.message)
        elif told:
            event = self._of_message(a2a.Message(role="ROLE_AGENT", parts=told))
        else:
            own = [message for message in task.history if message.role == a2a.Role.Value("ROLE_AGENT")]
            event = self._of_message(own[-1]) if own else self._event()
        if task.status.state in _ENDED and event.content and event.content.parts:
            event.actions.skip_summarization = True
        return _as_state_says(event, task.status.state)

    def _of_status(self, update: Any) -> Event | None:
        if update.status.message.parts:
            return _as_state_says(self._of_message(update.status.message), update.status.state)
        return self._event() if update.status.state in _LAST else None

    def _of_artifact(self, update: Any) -> Event | None:
        if not update.artifact.parts:
            return None
        event = self._of_message(a2a.Message(role="ROLE_AGENT", parts=update.artifact.parts))
        event.partial = not update.last_chunk
        if update.artifact.artifact_id:  # all chunks of one artifact are one event's
            event.id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.ctx.invocation_id}:{update.artifact.artifact_id}"))
        return event

    def _of_message(self, message: Any) -> Event:
        parts: list[types.Part] = []
        waiting: set[str] = set()
        for part in message.parts:
            read = as_list(self.read_part(part))
            parts += read
            if as_json(part.metadata).get(LONG_RUNNING) is True:
                waiting |= {one.function_call.id for one in read if one.function_call and one.function_call.id}
        role = "user" if message.role == a2a.Role.Value("ROLE_USER") else "model"
        return self._event(content=types.Content(role=role, parts=parts), long_running_tool_ids=waiting or None)

    def _event(self, **fields: Any) -> Event:
        return Event(author=self.agent_name, invocation_id=self.ctx.invocation_id, branch=self.ctx.branch, **fields)


def as_list(converted: Any) -> list[Any]:
    """Return what a converter of parts returned as a list: it may be one part, several, or None."""
    return list(converted) if isinstance(converted, Iterable) and isinstance(converted, list) else [converted] if converted else []


def _as_state_says(event: Event, state: Any) -> Event:
    """Return the event of a task that is in a state: what it says while it works is thought, and a question is a call to answer."""
    parts = (event.content and event.content.parts) or []
    if event.content is not None and event.long_running_tool_ids is None:
        event.long_running_tool_ids = set()  # as google-adk stores it
    if state in _UNFINISHED:
        for part in parts:
            part.thought = True
    if state in _QUESTIONS and not event.long_running_tool_ids:
        name, key = _QUESTIONS[state]
        for index in reversed(range(len(parts))):
            if parts[index].text:
                call = types.FunctionCall(id=str(uuid.uuid4()), name=name, args={key: parts[index].text})
                parts[index] = types.Part(function_call=call)
                event.long_running_tool_ids = {str(call.id)}
                break
    return event
