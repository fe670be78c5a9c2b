"""The bodies of google-adk's requests about sessions and runs."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import field_validator

from inspector_app.server.bodies import MAX_PARTS, Body


class RunBody(Body):
    """The body of `/run` and `/run_sse`.

    Attributes:
        app_name, user_id, session_id: the session; without an app, the only agent's.
        new_message: the user's message, or a function response; None: resume `invocation_id`.
        invocation_id: the invocation to resume.
        state_delta: state changes committed with the message.
        streaming: whether the model streams.
        custom_metadata: added to every event of the run.
        function_call_event_id: the event whose call the message answers; the events are then sent as they are.
    """

    app_name: str | None = None
    user_id: str
    session_id: str
    new_message: types.Content | None = None
    invocation_id: str | None = None
    state_delta: dict[str, Any] | None = None
    streaming: bool = False
    custom_metadata: dict[str, Any] | None = None
    function_call_event_id: str | None = None

    @field_validator("new_message", mode="before")
    @classmethod
    def _has_parts(cls, message: Any) -> Any:
        parts = message.get("parts") if isinstance(message, dict) else None
        if isinstance(message, dict) and not parts:
            raise ValueError("The message has no parts. Send at least one, such as a text.")
        if isinstance(parts, list) and len(parts) > MAX_PARTS:
            raise ValueError(f"The message has more than {MAX_PARTS:,} parts.")
        return message


class NewSessionBody(Body):
    """The body for a new session.

    Attributes:
        session_id: None for a generated id.
        state: the session's initial state.
        events: its first events, as JSON objects; each is validated when it is appended.
        options: of the session service; none of ours has any.
    """

    session_id: str | None = None
    state: dict[str, Any] | None = None
    events: list[dict[str, Any]] | None = None
    options: dict[str, Any] | None = None


class StateBody(Body):
    """A change to a session's state.

    Attributes:
        state_delta: key with scope prefix → value.
    """

    state_delta: dict[str, Any]


class MemoryBody(Body):
    """A session to add to the memory."""

    session_id: str
