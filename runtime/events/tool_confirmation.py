"""The confirmation of a tool call."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class ToolConfirmation(BaseModel):
    """A tool's request for confirmation, and the user's answer.

    Attributes:
        hint: the question.
        confirmed: the answer; False until it is given.
        payload: data for the user to fill in, any JSON value.
    """

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True)

    hint: str = ""
    confirmed: bool = False
    payload: Any | None = None
