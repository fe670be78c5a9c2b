"""A question to the user."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from runtime.support.ids import new_uuid


class RequestInput(BaseModel):
    """A question that a node of a workflow graph asks the user. Graphs run on the google-adk engine; agents use the tool `request_input`.

    Attributes:
        interrupt_id: identifies the question in the answer.
        payload: data for the node that continues after the answer.
        message: the question.
        response_schema: the form of the answer: a type or a JSON schema; any if None.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, alias_generator=to_camel, populate_by_name=True)

    interrupt_id: str = Field(default_factory=new_uuid)
    payload: Any | None = None
    message: str | None = None
    response_schema: Any | None = None
