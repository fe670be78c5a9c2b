"""The model's built-in thinking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.planners.base_planner import BasePlanner

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest


class BuiltInPlanner(BasePlanner):
    """A planner that enables a model's built-in thinking; the thoughts are parts of its answers.

    Attributes:
        thinking_config: how much the model thinks, and whether thoughts are included.
    """

    def __init__(self, *, thinking_config: types.ThinkingConfig) -> None:
        self.thinking_config = thinking_config

    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str | None:
        """Set the request's thinking configuration; see `BasePlanner`."""
        llm_request.config.thinking_config = self.thinking_config
        return None

    def process_planning_response(self, callback_context: CallbackContext, response_parts: list[types.Part]) -> list[types.Part] | None:
        """Keep the answer unchanged; see `BasePlanner`."""
        return None
