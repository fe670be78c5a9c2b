"""Retrieval by LlamaIndex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.support.calling import call_bound
from runtime.tools.retrieval.base_retrieval_tool import BaseRetrievalTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext


class LlamaIndexRetrieval(BaseRetrievalTool):
    """Lets a model ask a retriever of LlamaIndex.

    Attributes:
        retriever: an object whose `retrieve(query)` returns nodes with `text`, the best first.

    Args:
        name, description: see `BaseTool`.
        retriever: see above.
    """

    def __init__(self, *, name: str, description: str, retriever: Any) -> None:
        super().__init__(name=name, description=description)
        self.retriever = retriever

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Return the best node's text, or a sentence that there is none."""
        nodes = await call_bound(tool_context._invocation_context.sync_calls, self.retriever.retrieve, [args["query"]], {})
        return nodes[0].text if nodes else f"No matching result found for the query: {args['query']}"
