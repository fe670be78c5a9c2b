"""What an event does besides saying something."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from runtime.events.tool_confirmation import ToolConfirmation


class EventCompaction(BaseModel):
    """A summary that stands in for the events between two times.

    Attributes:
        start_timestamp: epoch seconds of the first event it covers.
        end_timestamp: epoch seconds of the last event it covers.
        compacted_content: the summary.
    """

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True)

    start_timestamp: float
    end_timestamp: float
    compacted_content: types.Content


class EventActions(BaseModel):
    """The side effects an event carries; the Runner commits them together with the event (seed: events, "Processing Flow").

    Unknown fields of newer writers are kept, so that they survive a round trip.

    Attributes:
        skip_summarization: the model need not be called again after this function response.
        state_delta: keys to set, with their scope prefix; `None` is stored as null (a delta cannot remove a key).
        artifact_delta: file name → version saved.
        transfer_to_agent: the agent that goes on from here.
        escalate: the enclosing loop ends.
        requested_auth_configs: function call id → the credential it asks for.
        requested_tool_confirmations: function call id → the confirmation it asks for.
        compaction: this event is a summary of older ones.
        end_of_agent: the author finished its work in this invocation (seed: resume).
        agent_state: the author's checkpoint (seed: resume).
        rewind_before_invocation_id: everything from this invocation on was taken back.
    """

    model_config = ConfigDict(
        extra="allow", alias_generator=to_camel, populate_by_name=True, ser_json_bytes="base64", val_json_bytes="base64"
    )

    skip_summarization: bool | None = None
    state_delta: dict[str, Any] = Field(default_factory=dict)
    artifact_delta: dict[str, int] = Field(default_factory=dict)
    transfer_to_agent: str | None = None
    escalate: bool | None = None
    requested_auth_configs: dict[str, Any] = Field(default_factory=dict)
    requested_tool_confirmations: dict[str, ToolConfirmation] = Field(default_factory=dict)
    compaction: EventCompaction | None = None
    end_of_agent: bool | None = None
    agent_state: dict[str, Any] | None = None
    rewind_before_invocation_id: str | None = None
