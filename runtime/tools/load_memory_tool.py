"""The tool with which a model searches the user's memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from runtime.contexts.context import ToolContext
from runtime.memory.memory_entry import MemoryEntry
from runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest

_INSTRUCTION = "You remember earlier conversations with the user. Where they may help to answer, call `load_memory` with what to look for."


class LoadMemoryResponse(BaseModel):
    """The found memories, best first."""

    memories: list[MemoryEntry] = Field(default_factory=list)


async def load_memory(query: str, tool_context: ToolContext) -> LoadMemoryResponse:
    """Search what is remembered of earlier conversations with the user.

    Args:
        query: what to look for.
    """
    return LoadMemoryResponse(memories=(await tool_context.search_memory(query)).memories)


class LoadMemoryTool(FunctionTool):
    """`load_memory` with an instruction that tells the model about its memory."""

    def __init__(self) -> None:
        super().__init__(load_memory)

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the tool and its instruction to a request; see `BaseTool.process_llm_request`."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions([_INSTRUCTION])


load_memory_tool = LoadMemoryTool()
