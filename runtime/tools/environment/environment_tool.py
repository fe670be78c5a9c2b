"""What the tools of an environment have in common."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.environment.base_environment import BaseEnvironment
from runtime.tools.base_tool import BaseTool

MAX_OUTPUT_CHARS = 30_000  # characters of a text for the model


class EnvironmentTool(BaseTool):
    """A tool of an environment, whose parameters are given as a table.

    Args:
        environment: where it works.
        name: its name.
        description: its purpose, for the model.
        properties: its parameters, as name → (type, description).
        required: the parameters that a model must give.
        max_output_chars: the length after which a text for the model is cut off; 30,000 if None.
    """

    def __init__(
        self,
        environment: BaseEnvironment,
        name: str,
        description: str,
        properties: dict[str, tuple[str, str]],
        *,
        required: list[str],
        max_output_chars: int | None = None,
    ) -> None:
        super().__init__(name=name, description=description)
        self._environment = environment
        self._properties, self._required = properties, required
        self._max_output_chars = MAX_OUTPUT_CHARS if max_output_chars is None else max_output_chars

    def _get_declaration(self) -> types.FunctionDeclaration:
        properties = {name: {"type": kind, "description": told} for name, (kind, told) in self._properties.items()}
        schema = {"type": "object", "properties": properties, "required": self._required}
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    def _cut(self, text: str) -> str:
        limit = self._max_output_chars
        return text if len(text) <= limit else f"{text[:limit]}\n... (truncated, {len(text)} total chars)"


def error(sentence: str, **more: Any) -> dict[str, Any]:
    """Return the result of a call that failed."""
    return {"status": "error", "error": sentence, **more}
