"""The model's own way of thinking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.planners.base_planner import BasePlanner

if TYPE_CHECKING:
    from runtime.contexts.callback_context import CallbackContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest


class BuiltInPlanner(BasePlanner):
    """Lets a model that can think do so; its thoughts are parts of its answers.

    Attributes:
        thinking_config: how much it thinks, and whether it tells.
    """

    def __init__(self, *, thinking_config: types.ThinkingConfig) -> None:
        self.thinking_config = thinking_config

    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str | None:
        """Put the thinking configuration into the request; see `BasePlanner`."""
        llm_request.config.thinking_config = self.thinking_config
        return None

    def process_planning_response(self, callback_context: CallbackContext, response_parts: list[types.Part]) -> list[types.Part] | None:
        """Leave the answer as it is; see `BasePlanner`."""
        return None
