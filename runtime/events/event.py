"""The unit of a session's history."""

from __future__ import annotations

import time

from pydantic import Field

from runtime.events.event_actions import EventActions
from runtime.events.final_response import is_final_response
from runtime.models.llm_response import LlmResponse
from runtime.support.ids import new_uuid


class Event(LlmResponse):
    """One atomic occurrence in an invocation.

    Attributes:
        invocation_id: the invocation it belongs to; the Runner fills it in if empty.
        author: `user`, or the name of the agent that yielded it.
        actions: its side effects.
        long_running_tool_ids: ids of this event's calls to long-running tools.
        branch: the agent's path below parallel agents, such as `parallel.child`; siblings do not see each other's events.
        id: unique within the session.
        timestamp: epoch seconds.
    """

    invocation_id: str = ""
    author: str
    actions: EventActions = Field(default_factory=EventActions)
    long_running_tool_ids: set[str] | None = None
    branch: str | None = None
    id: str = Field(default_factory=new_uuid)
    timestamp: float = Field(default_factory=time.time)

    @staticmethod
    def new_id() -> str:
        """Return a new event id."""
        return new_uuid()

    def has_trailing_code_execution_result(self) -> bool:
        """Return whether the content ends with the result of executed code."""
        return bool(self.content and self.content.parts and self.content.parts[-1].code_execution_result is not None)

    def is_final_response(self) -> bool:
        """Return whether the event is an agent's answer to show to the user.

        Follows google-adk, except that escalations, and events that carry actions without content, are not final.
        """
        return is_final_response(self)
