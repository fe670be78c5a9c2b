"""Search in one's own documents, by Vertex AI Search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.models.model_names import check_is_gemini
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest


class VertexAiSearchTool(BaseTool):
    """Lets a Gemini model search a data store of Vertex AI Search. The search runs on Google's server.

    A subclass overrides `_build_vertex_ai_search_config` to choose the search by the session's state.

    Attributes:
        data_store_id: the data store, `projects/…/dataStores/…`.
        data_store_specs: the data stores to search; with `search_engine_id` only.
        search_engine_id: the search engine, `projects/…/engines/…`, in place of a data store.
        filter: which documents are searched.
        max_results: maximum number of results.
        bypass_multi_tools_limit: search by a request of its own in an agent with other tools, which needs the google-adk engine.

    Args:
        name, description: in place of `vertex_ai_search`; they are not sent.

    Raises:
        ValueError: not exactly one of `data_store_id` and `search_engine_id` is given, or `data_store_specs` without a search engine.
    """

    def __init__(
        self,
        *,
        data_store_id: str | None = None,
        data_store_specs: list[types.VertexAISearchDataStoreSpec] | None = None,
        search_engine_id: str | None = None,
        filter: str | None = None,
        max_results: int | None = None,
        bypass_multi_tools_limit: bool = False,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(name=name or "vertex_ai_search", description=description or "vertex_ai_search")
        if (data_store_id is None) == (search_engine_id is None):
            raise ValueError("Either data_store_id or search_engine_id must be specified.")
        if data_store_specs is not None and search_engine_id is None:
            raise ValueError("search_engine_id must be specified if data_store_specs is specified.")
        self.data_store_id = data_store_id
        self.data_store_specs = data_store_specs
        self.search_engine_id = search_engine_id
        self.filter = filter
        self.max_results = max_results
        self.bypass_multi_tools_limit = bypass_multi_tools_limit

    def _build_vertex_ai_search_config(self, readonly_context: ReadonlyContext) -> types.VertexAISearch:
        """Return the search of one request.

        Args:
            readonly_context: the run, such as `readonly_context.state`.
        """
        return types.VertexAISearch(
            datastore=self.data_store_id,
            data_store_specs=self.data_store_specs,
            engine=self.search_engine_id,
            filter=self.filter,
            max_results=self.max_results,
        )

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Enable the search in a request; see `BaseTool.process_llm_request`.

        Raises:
            ValueError: the model has a name that is not Gemini's.
        """
        check_is_gemini(llm_request.model, "Vertex AI search tool")
        retrieval = types.Retrieval(vertex_ai_search=self._build_vertex_ai_search_config(tool_context))
        llm_request.config.tools = [*(llm_request.config.tools or []), types.Tool(retrieval=retrieval)]
