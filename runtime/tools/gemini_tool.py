"""Tools that Gemini runs itself, on Google's server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.models.model_names import check_is_gemini
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class GeminiTool(BaseTool):
    """A tool that a request only enables.

    Args:
        name: its name.
        title: its name in the error for another model.
        tool: what is added to a request.
    """

    def __init__(self, name: str, title: str, tool: types.Tool) -> None:
        super().__init__(name=name, description=name)
        self._title = title
        self._tool = tool

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the tool in a request; see `BaseTool.process_llm_request`.

        Raises:
            ValueError: the model has a name that is not Gemini's.
        """
        check_is_gemini(llm_request.model, self._title)
        llm_request.config.tools = [*(llm_request.config.tools or []), self._tool.model_copy(deep=True)]
