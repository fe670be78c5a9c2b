"""The model and tool calls of a recording, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime.sessions.session_key import SessionKey


@dataclass(frozen=True, slots=True)
class RecordedModelCall:
    """A model call.

    Attributes:
        number: the call's number in its recording.
        key: the session.
        invocation_id: the invocation.
        branch: the branch, or None.
        agent: name of the agent that called.
        model: name of the model that was asked, or None.
        event_id: the event that the answer became, or None.
        started: epoch seconds.
        first: seconds from the start to the first piece of the answer, or None.
        ended: seconds from the start to the end, or None if the end was not seen.
        chunks: seconds from the start to each piece of a streamed answer.
        error: type and message of the error that ended the call, or None.
        answered: what is known of the answer besides its content, in google-genai's field names: `usage_metadata`, `model_version`,
            `finish_reason`, `error_code`, `error_message`.
    """

    number: int
    key: SessionKey
    invocation_id: str
    branch: str | None
    agent: str
    model: str | None
    event_id: str | None
    started: float
    first: float | None
    ended: float | None
    chunks: tuple[float, ...]
    error: str | None
    answered: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedModelRequest:
    """A request as the model received it, with secrets replaced, as JSON values in google-genai's field names.

    Attributes:
        model: the model's name, or None.
        config: system instruction, tools and settings.
        contents: the conversation.
        answer: the content of the answer, or None.
        agent_texts: what the agent's author wrote: `instruction`, `static_instruction`, `global_instruction`, `description`,
            `include_contents`; a function is `{"function": name}`. `planner`, `output_schema` and `code_executor` have their class's name.
    """

    model: str | None
    config: Mapping[str, Any]
    contents: tuple[Any, ...]
    answer: Mapping[str, Any] | None
    agent_texts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A model call with its request.

    Attributes:
        call: when the call was made.
        request: what the model was asked.
        before: the agent's previous request in the session, or None.
    """

    call: RecordedModelCall
    request: RecordedModelRequest
    before: RecordedModelRequest | None


@dataclass(frozen=True, slots=True)
class RecordedToolCall:
    """A tool call. The attributes are those of `RecordedModelCall`.

    Attributes:
        tool: the tool's name.
        call_id: id of the function call, or None.
    """

    key: SessionKey
    invocation_id: str
    branch: str | None
    agent: str
    tool: str
    call_id: str | None
    started: float
    ended: float | None
    error: str | None
