"""Tools that find texts for a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.tools.retrieval.base_retrieval_tool import BaseRetrievalTool
    from runtime.tools.retrieval.files_retrieval import FilesRetrieval
    from runtime.tools.retrieval.llama_index_retrieval import LlamaIndexRetrieval
    from runtime.tools.retrieval.vertex_ai_rag_retrieval import VertexAiRagRetrieval

__all__ = ["BaseRetrievalTool", "FilesRetrieval", "LlamaIndexRetrieval", "VertexAiRagRetrieval"]

__getattr__ = lazy_exports(
    __name__,
    {
        "BaseRetrievalTool": "runtime.tools.retrieval.base_retrieval_tool",
        "FilesRetrieval": "runtime.tools.retrieval.files_retrieval",
        "LlamaIndexRetrieval": "runtime.tools.retrieval.llama_index_retrieval",
        "VertexAiRagRetrieval": "runtime.tools.retrieval.vertex_ai_rag_retrieval",
    },
)
