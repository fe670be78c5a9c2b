"""The tool that finds texts with Vertex AI Search."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, ReadonlyContext
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.models.llm_request import LlmRequest
from runtime.tools import VertexAiSearchTool

STORE = "projects/p/locations/global/collections/c/dataStores/d"


async def retrieval_of(tool: Any, model: str = "gemini-2.5-flash", context: Any = None) -> types.Retrieval:
    request = LlmRequest(model=model)
    await tool.process_llm_request(tool_context=context, llm_request=request)
    ((found,), functions) = request.config.tools, request.tools_dict
    assert isinstance(found, types.Tool) and found.retrieval and not functions
    return found.retrieval


async def test_vertex_ai_search_is_added_to_a_request() -> None:
    search = (await retrieval_of(VertexAiSearchTool(data_store_id=STORE, filter="year > 2000", max_results=3))).vertex_ai_search
    assert search == types.VertexAISearch(datastore=STORE, filter="year > 2000", max_results=3)
    with pytest.raises(ValueError, match="not supported for model openai/gpt-5"):
        await retrieval_of(VertexAiSearchTool(data_store_id=STORE), "openai/gpt-5")


async def test_a_subclass_chooses_the_search_by_the_state() -> None:
    class OfUser(VertexAiSearchTool):
        def _build_vertex_ai_search_config(self, readonly_context: ReadonlyContext) -> types.VertexAISearch:
            return types.VertexAISearch(datastore=self.data_store_id, filter=f"user = {readonly_context.state['user']}")

    context = SimpleNamespace(state={"user": "ann"})
    search = (await retrieval_of(OfUser(data_store_id=STORE), context=context)).vertex_ai_search
    assert search and search.filter == "user = ann"


@pytest.mark.parametrize("given", [{}, {"data_store_id": STORE, "search_engine_id": "e"}, {"data_store_id": STORE, "data_store_specs": []}])
def test_vertex_ai_search_has_one_place_to_search(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be specified"):
        VertexAiSearchTool(**given)


async def test_a_search_beside_other_tools_needs_the_engine() -> None:
    search = VertexAiSearchTool(data_store_id=STORE, bypass_multi_tools_limit=True)
    assert await LlmAgent(name="alone", tools=[search]).canonical_tools() == [search]
    with pytest.raises(EngineNeededError, match="beside other tools"):
        await LlmAgent(name="both", tools=[search, print]).canonical_tools()
