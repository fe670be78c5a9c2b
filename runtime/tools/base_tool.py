"""What an agent can call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

if TYPE_CHECKING:
    from runtime.contexts.tool_context import ToolContext
    from runtime.models.llm_request import LlmRequest


class BaseTool:
    """A tool: something with a name that a model may call.

    Attributes:
        name: how the model calls it.
        description: tells the model what it is for.
        is_long_running: its answer comes later, from outside; what it returns now is only a receipt.
        custom_metadata: anything the application wants to keep with the tool.
    """

    def __init__(
        self, *, name: str, description: str, is_long_running: bool = False, custom_metadata: dict[str, Any] | None = None
    ) -> None:
        self.name = name
        self.description = description
        self.is_long_running = is_long_running
        self.custom_metadata = custom_metadata

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return what the model is told of the tool, or None if it is not offered as a function."""
        return None

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the tool.

        Args:
            args: the arguments the model gave.
            tool_context: state, actions and services.

        Returns:
            A dict for the model, or any value (wrapped as `{"result": value}`); None from a long-running tool means no answer yet.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be called.")

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Put the tool into a request; by default its declaration.

        Args:
            tool_context: of the turn that is being prepared.
            llm_request: changed in place.
        """
        llm_request.append_tools([self])
