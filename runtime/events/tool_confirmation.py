"""A confirmation that a tool asks for."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class ToolConfirmation(BaseModel):
    """What a tool asks a person, and the answer.

    Attributes:
        hint: the question.
        confirmed: the answer; False until one is given.
        payload: what the person may fill in, any JSON value.
    """

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True)

    hint: str = ""
    confirmed: bool = False
    payload: Any | None = None
