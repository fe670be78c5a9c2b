"""The base class of tools."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any

from google.genai import types

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class BaseTool(ABC):  # noqa: B024 - subclasses, such as authenticated tools, have abstract methods
    """A tool that a model can call by its name.

    Attributes:
        name: the name that the model uses.
        description: the tool's purpose, for the model.
        is_long_running: the answer is given later, from outside; the returned value is only a receipt.
        custom_metadata: the application's own data.
        behavior: a setting of live audio, which only the google-adk engine uses.
        response_scheduling: when a live model reacts to a result that names no scheduling of its own; part of each function response.
    """

    is_long_running: bool = False
    custom_metadata: dict[str, Any] | None = None
    behavior: types.Behavior | None = None
    response_scheduling: types.FunctionResponseScheduling | None = None

    def __init__(
        self,
        *,
        name: str,
        description: str,
        is_long_running: bool = False,
        custom_metadata: dict[str, Any] | None = None,
        behavior: types.Behavior | None = None,
        response_scheduling: types.FunctionResponseScheduling | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.is_long_running = is_long_running
        self.custom_metadata = custom_metadata
        self.behavior = behavior
        self.response_scheduling = response_scheduling

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return the function declaration for the model, or None if the tool is not offered as a function."""
        return None

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the tool.

        Args:
            args: the model's arguments.
            tool_context: state, actions and services.

        Returns:
            A dict for the model, or any other value, which becomes `{"result": value}`; None from a long-running tool means no answer
            yet.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be called.")

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: ToolContext) -> bool:
        """Return whether the user must approve a call with these arguments."""
        return False

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the tool to a request; by default its declaration.

        Args:
            tool_context: the context of the model call.
            llm_request: the request, changed in place.
        """
        llm_request.append_tools([self])
