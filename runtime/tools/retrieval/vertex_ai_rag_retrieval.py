"""Retrieval from a corpus of Vertex AI RAG Engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.errors.engine_needed_error import EngineNeededError
from runtime.models.model_names import is_gemini_model, is_gemini_model_id_check_disabled
from runtime.tools.retrieval.base_retrieval_tool import BaseRetrievalTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class VertexAiRagRetrieval(BaseRetrievalTool):
    """Lets a Gemini model retrieve texts from corpora of Vertex AI RAG Engine. The retrieval runs on Google's server.

    Attributes:
        vertex_rag_store: the corpora and the limits.

    Args:
        name, description: see `BaseTool`; a Gemini model is not told them.
        rag_corpora: names of corpora, `projects/…/ragCorpora/…`.
        rag_resources: corpora with files: google-genai's type, a mapping of its fields, or an object that has them, such as
            `vertexai.rag.RagResource`.
        similarity_top_k: maximum number of texts.
        vector_distance_threshold: texts that are farther from the query are left out.
    """

    def __init__(
        self,
        *,
        name: str,
        description: str,
        rag_corpora: list[str] | None = None,
        rag_resources: list[Any] | None = None,
        similarity_top_k: int | None = None,
        vector_distance_threshold: float | None = None,
    ) -> None:
        super().__init__(name=name, description=description)
        self.vertex_rag_store = types.VertexRagStore(
            rag_corpora=rag_corpora,
            rag_resources=[_resource(given) for given in rag_resources] if rag_resources else None,
            similarity_top_k=similarity_top_k,
            vector_distance_threshold=vector_distance_threshold,
        )

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the retrieval in a request; see `BaseTool.process_llm_request`.

        Raises:
            EngineNeededError: the model is not Gemini's, so that a program has to call RAG Engine.
        """
        if not (is_gemini_model(llm_request.model) or is_gemini_model_id_check_disabled()):
            raise EngineNeededError(f"VertexAiRagRetrieval with the model {llm_request.model}, which is not Gemini's,")
        retrieval = types.Retrieval(vertex_rag_store=self.vertex_rag_store)
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(retrieval=retrieval)]


def _resource(given: Any) -> types.VertexRagStoreRagResource:
    if isinstance(given, types.VertexRagStoreRagResource):
        return given
    if isinstance(given, Mapping):
        return types.VertexRagStoreRagResource.model_validate(given)
    if not (hasattr(given, "rag_corpus") or hasattr(given, "rag_file_ids")):
        raise TypeError(f"A rag_resource has rag_corpus or rag_file_ids; this is of the type {type(given).__name__}.")
    return types.VertexRagStoreRagResource(rag_corpus=getattr(given, "rag_corpus", None), rag_file_ids=getattr(given, "rag_file_ids", None))
