"""The tool with which a model asks the user a question."""

from __future__ import annotations

from typing import Any

from runtime.events.marks import INPUT_CALL
from runtime.tools.long_running_tool import LongRunningFunctionTool


def _ask(message: str, response_schema: dict[str, Any] | None = None) -> None:
    """Ask the user something that you need to know before you can continue, and wait for the answer.

    Args:
        message: the question, as the user will read it.
        response_schema: a JSON schema of the answer: {"type": "string"} for free text, {"type": "boolean"} for yes or no, an object for
            several values.
    """


_ask.__name__ = INPUT_CALL
request_input = LongRunningFunctionTool(_ask)
