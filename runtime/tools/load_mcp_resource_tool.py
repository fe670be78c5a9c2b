"""Resources of an MCP server in model requests."""

from __future__ import annotations

import base64
import binascii
import json
import logging
from typing import TYPE_CHECKING, Any, Protocol

from google.genai import types

from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest

logger = logging.getLogger(__name__)


class Resources(Protocol):
    """What the tool needs of an `McpToolset`."""

    async def list_resources(self, readonly_context: ReadonlyContext | None = None) -> list[str]:
        """Return the names."""

    async def read_resource(self, name: str, readonly_context: ReadonlyContext | None = None) -> list[Any]:
        """Return the contents."""


class LoadMcpResourceTool(BaseTool):
    """Lets the model read the resources of an MCP server. It learns their names from the instruction."""

    def __init__(self, mcp_toolset: Resources) -> None:
        super().__init__(name="load_mcp_resource", description="Reads resources of the MCP server.")
        self._mcp_toolset = mcp_toolset

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema={
                "type": "object",
                "properties": {"resource_names": {"type": "array", "items": {"type": "string"}}},
            },
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Accept the names; the contents are in the next request only. See `BaseTool.run_async`."""
        return {
            "resource_names": args.get("resource_names", []),
            "status": "The contents are in this request only. To read them again, call load_mcp_resource again.",
        }

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the tool, the resources' names and, after a call, their contents to a request; see `BaseTool.process_llm_request`."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        try:
            names = await self._mcp_toolset.list_resources(tool_context)
        except Exception as error:  # the agent can still use the server's tools
            logger.warning("The resources of an MCP server cannot be listed: %s", error)
            return
        if names:
            llm_request.append_instructions(
                [
                    f"These MCP resources exist: {json.dumps(names)}\n"
                    f"Before you answer a question about one of them, call `{self.name}` with its name to read it."
                ]
            )
        last = llm_request.contents[-1].parts if llm_request.contents else None
        response = last[0].function_response if last else None
        if response is not None and response.name == self.name:
            for name in (response.response or {}).get("resource_names", []):
                await self._append(name, tool_context, llm_request)

    async def _append(self, name: str, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        try:
            contents = await self._mcp_toolset.read_resource(name, tool_context)
        except Exception as error:  # the model sees that it is not there
            logger.warning("The MCP resource %s cannot be read: %s", name, error)
            return
        for content in contents:
            parts = [types.Part(text=f"Resource {name} is:"), _part(name, content)]
            llm_request.contents.append(types.Content(role="user", parts=parts))


def _part(name: str, content: Any) -> types.Part:
    text, blob = getattr(content, "text", None), getattr(content, "blob", None)
    if text is not None:
        return types.Part(text=text)
    try:
        data = base64.b64decode(blob or "", validate=True)
    except binascii.Error:
        return types.Part(text=f"[{name} cannot be decoded.]")
    mime_type = getattr(content, "mime_type", None) or getattr(content, "mimeType", None)  # the second in version 1 of the package mcp
    return types.Part(inline_data=types.Blob(data=data, mime_type=mime_type or "application/octet-stream"))
