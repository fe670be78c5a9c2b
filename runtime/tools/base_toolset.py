"""The base class of toolsets: groups of tools that may differ from call to call."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.auth.auth_tool import AuthConfig
    from runtime.contexts.context import ToolContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest

ToolPredicate: TypeAlias = "Callable[[BaseTool, ReadonlyContext | None], bool]"


class BaseToolset(ABC):
    """A group of tools that an LlmAgent requests before each model call.

    Attributes:
        tool_filter: the names of the tools to offer, or a predicate of tool and context; all tools if None. `get_tools` must apply it,
            with `_is_tool_selected`.
        tool_name_prefix: prepended to the tools' names, with an underscore.
    """

    def __init__(self, *, tool_filter: ToolPredicate | list[str] | None = None, tool_name_prefix: str | None = None) -> None:
        self.tool_filter = tool_filter
        self.tool_name_prefix = tool_name_prefix

    @abstractmethod
    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools for a model call.

        Args:
            readonly_context: the invocation; None outside a run.
        """

    async def get_tools_with_prefix(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools with their prefixed names; prefixed tools are copies."""
        tools = await self.get_tools(readonly_context)
        return [_renamed(tool, f"{self.tool_name_prefix}_{tool.name}") for tool in tools] if self.tool_name_prefix else tools

    def get_auth_config(self) -> AuthConfig | None:
        """Return the request for the credential that the toolset needs to list its tools; None if it needs none.

        Before each model call the user is asked for a missing one, unless the conversation is live. `Context.get_auth_response` returns it.
        """
        return None

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Change a request before the toolset's tools are added to it; does nothing by default."""
        return None

    async def close(self) -> None:
        """Release the toolset's resources; called when the Runner closes."""
        return None

    def _is_tool_selected(self, tool: BaseTool, readonly_context: ReadonlyContext | None) -> bool:
        """Return whether `tool_filter` accepts a tool."""
        if callable(self.tool_filter):
            return self.tool_filter(tool, readonly_context)
        return not self.tool_filter or tool.name in self.tool_filter


def _renamed(tool: BaseTool, name: str) -> BaseTool:
    """Return a copy of a tool with another name."""
    renamed = copy.copy(tool)
    renamed.name = name
    declare = tool._get_declaration

    def declaration() -> object:
        found = declare()
        return found and found.model_copy(update={"name": name})

    renamed._get_declaration = declaration  # type: ignore[method-assign, assignment]
    return renamed
