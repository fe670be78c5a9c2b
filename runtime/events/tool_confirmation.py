"""The confirmation of a tool call."""

from __future__ import annotations

import json
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class ToolConfirmation(BaseModel):
    """A tool's request for confirmation, and the user's answer.

    Attributes:
        hint: the question.
        confirmed: the answer; False until it is given.
        payload: data for the user to fill in, any JSON value.
    """

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    hint: str = ""
    confirmed: bool = False
    payload: Any | None = None

    @classmethod
    def from_response_dict(cls, response: dict[str, Any]) -> Self:
        """Return the confirmation in a function response; adk web sends it as a JSON text under `response`.

        Raises:
            pydantic.ValidationError: it has other fields.
            ValueError: the text is not JSON.
        """
        text = response.get("response") if set(response) == {"response"} else None
        return cls.model_validate(json.loads(text) if isinstance(text, str) else response)
