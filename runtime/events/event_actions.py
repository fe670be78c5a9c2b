"""The side effects of events."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, field_serializer
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from runtime.events.tool_confirmation import ToolConfirmation
from runtime.events.ui_widget import UiWidget

logger = logging.getLogger(__name__)


class EventCompaction(BaseModel):
    """A summary that replaces the events of a time span in requests to models.

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
    """An event's side effects, which the Runner commits together with the event.

    Unknown fields written by newer versions survive a round trip.

    Attributes:
        skip_summarization: the model is not called again after this function response.
        state_delta: keys to set, with their scope prefix; `None` is stored as null, as a delta cannot remove a key.
        artifact_delta: file name → saved version.
        transfer_to_agent: the agent that takes over.
        transfer_reason: why; shown with the event.
        route: the way on in a workflow graph, which only the google-adk engine follows.
        render_ui_widgets: what a web interface is to render with the event.
        escalate: ends the enclosing loop.
        requested_auth_configs: function call id → the requested credential.
        requested_tool_confirmations: function call id → the requested confirmation.
        compaction: the summary of older events.
        end_of_agent: the author has finished its work in this invocation.
        agent_state: the author's checkpoint.
        rewind_before_invocation_id: the first invocation that was rewound; all later ones were too.
        set_model_response: the answer that the `set_model_response` tool accepted. Stored as a mark of the event (`marks.ANSWER`), as
            google-adk 1.x refuses events with an action that it does not know.
    """

    model_config = ConfigDict(
        extra="allow", alias_generator=to_camel, populate_by_name=True, ser_json_bytes="base64", val_json_bytes="base64"
    )

    skip_summarization: bool | None = None
    state_delta: dict[str, Any] = Field(default_factory=dict)
    artifact_delta: dict[str, int] = Field(default_factory=dict)
    transfer_to_agent: str | None = None
    transfer_reason: str | None = None
    route: Any | None = None
    # A widget of another version of google-adk stays as it is.
    render_ui_widgets: list[Annotated[UiWidget | Any, Field(union_mode="left_to_right")]] | None = None
    escalate: bool | None = None
    requested_auth_configs: dict[str, Any] = Field(default_factory=dict)
    requested_tool_confirmations: dict[str, ToolConfirmation] = Field(default_factory=dict)
    compaction: EventCompaction | None = None
    end_of_agent: bool | None = None
    agent_state: dict[str, Any] | None = None
    rewind_before_invocation_id: str | None = None
    set_model_response: Any | None = None

    @field_serializer("state_delta", "agent_state", mode="wrap")
    def _describe_what_is_not_json(self, value: dict[str, Any] | None, handler: SerializerFunctionWrapHandler) -> Any:
        # `temp:` values may be any objects, and printing an event must not fail on them. What is stored is checked before.
        try:
            return handler(value)
        except PydanticSerializationError:
            logger.warning("An event's state has values that are not JSON; they are written as text.", exc_info=True)
            return handler(to_jsonable_python(value, serialize_unknown=True))
