"""A part of a user interface that an event asks for."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class UiWidget(BaseModel):
    """What a web interface is to render with an event; it is stored, and the inspector's window shows it as JSON.

    Attributes:
        id: unique in its event.
        provider: who renders it, such as `mcp`.
        payload: the provider's data, JSON.
    """

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    id: str
    provider: str
    payload: dict[str, Any] = Field(default_factory=dict)
