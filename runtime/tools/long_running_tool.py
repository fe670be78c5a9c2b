"""A function whose answer is given later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.genai import types

from runtime.tools.function_tool import FunctionTool

_NOTE = "This takes long. What it returns at first is only a receipt: do not call it again while its answer is pending."


class LongRunningFunctionTool(FunctionTool):
    """A tool that only starts something; the answer is a later function response from outside.

    Args:
        func: a function that returns a receipt for the model, or None.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        super().__init__(func)
        self.is_long_running = True

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        declaration = super()._get_declaration()
        if declaration:
            declaration.description = f"{declaration.description}\n\n{_NOTE}" if declaration.description else _NOTE
        return declaration
