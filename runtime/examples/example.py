"""An example of a conversation."""

from __future__ import annotations

from google.genai import types
from pydantic import BaseModel


class Example(BaseModel):
    """A message of the user and what a model answers.

    Attributes:
        input: the message.
        output: the answer: contents with texts, function calls and their results.
    """

    input: types.Content
    output: list[types.Content]
