"""Instructions that are prompts of an MCP server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from runtime.tools.mcp_tool.mcp_session_manager import ConnectionParams, MCPSessionManager

if TYPE_CHECKING:
    from runtime.contexts.readonly_context import ReadonlyContext


class McpInstructionProvider:
    """An instruction provider that reads a prompt from an MCP server. The prompt's arguments come from the state.

    Args:
        connection_params: how to connect; see `McpToolset`.
        prompt_name: the prompt.
        errlog: where a server's process writes its standard error.
    """

    def __init__(self, connection_params: ConnectionParams, prompt_name: str, errlog: TextIO = sys.stderr) -> None:
        self._mcp_session_manager = MCPSessionManager(connection_params, errlog)
        self.prompt_name = prompt_name

    async def __call__(self, context: ReadonlyContext) -> str:
        """Return the prompt's texts, joined.

        Raises:
            McpConnectionError: the server cannot be reached.
            ValueError: the server has no such prompt, or it is empty.
        """
        session = await self._mcp_session_manager.create_session(context=context)
        prompts = (await session.list_prompts()).prompts
        prompt: Any = next((prompt for prompt in prompts if prompt.name == self.prompt_name), None)
        if prompt is None:
            raise ValueError(f"The MCP server {self._mcp_session_manager.server} has no prompt {self.prompt_name!r}.")
        names = {argument.name for argument in prompt.arguments or ()}
        arguments = {name: str(value) for name, value in context.state.items() if name in names}
        result = await session.get_prompt(self.prompt_name, arguments=arguments)
        if not result.messages:
            raise ValueError(f"The prompt {self.prompt_name!r} of the MCP server {self._mcp_session_manager.server} is empty.")
        return "".join(message.content.text for message in result.messages if message.content.type == "text")
