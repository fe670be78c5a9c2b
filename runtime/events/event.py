"""The message that agents, Runner and user pass to each other."""

from __future__ import annotations

import time

from pydantic import Field

from runtime.events.event_actions import EventActions
from runtime.models.llm_response import LlmResponse
from runtime.support.ids import new_uuid


class Event(LlmResponse):
    """One atomic occurrence of an invocation (seed: runtime-event-loop, "Event").

    Attributes:
        invocation_id: the invocation it belongs to; the Runner fills it in where it is empty.
        author: `user`, or the name of the agent that yielded it.
        actions: what it does besides its content.
        long_running_tool_ids: ids of this event's function calls whose tools answer later.
        branch: `parallel.child` path of the agent; siblings do not see each other's events.
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
        """Return whether the content ends in the result of executed code."""
        return bool(self.content and self.content.parts and self.content.parts[-1].code_execution_result is not None)

    def is_final_response(self) -> bool:
        """Return whether this is something to show the user as an agent's answer.

        As google-adk decides it, except that events which only change state or artifacts, and escalations, are not final (seed: events,
        "State/Artifact Update Only" and "Loop Escalation Signal").
        """
        actions = self.actions
        if actions.skip_summarization or self.long_running_tool_ids:
            return True
        if actions.escalate or self.partial:
            return False
        has_parts = bool(self.content and self.content.parts)
        if not has_parts and (actions.state_delta or actions.artifact_delta):
            return False
        return not (self.get_function_calls() or self.get_function_responses() or self.has_trailing_code_execution_result())
