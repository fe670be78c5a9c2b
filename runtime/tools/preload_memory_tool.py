"""The tool that adds the user's memories to each request."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from runtime.contexts.context import ToolContext
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest

logger = logging.getLogger(__name__)


class PreloadMemoryTool(BaseTool):
    """Searches the memory for the user's message and adds the results to the instruction; models cannot call it.

    An error of the memory service is logged and does not prevent the model call.
    """

    def __init__(self) -> None:
        super().__init__(name="preload_memory", description="Tells the model what is remembered of the user.")

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the memories to a request; see `BaseTool.process_llm_request`."""
        message = tool_context.user_content
        query = " ".join(part.text for part in (message.parts if message else None) or [] if part.text)
        if not query:
            return
        try:
            found = (await tool_context.search_memory(query)).memories
        except Exception as error:
            logger.warning("The memory could not be searched: %s: %s", type(error).__name__, error)
            return
        lines = [
            " ".join(filter(None, (entry.timestamp, entry.author and f"{entry.author}:", entry.text))) for entry in found if entry.text
        ]
        if lines:
            llm_request.append_instructions(
                [
                    "This was said in earlier conversations with the user; it may help to answer:\n<PAST_CONVERSATIONS>\n"
                    + "\n".join(lines)
                    + "\n</PAST_CONVERSATIONS>"
                ]
            )


preload_memory_tool = PreloadMemoryTool()
