"""Tools that find texts: Vertex AI Search, RAG Engine and LlamaIndex."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, ReadonlyContext
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.models import ScriptedLlm
from runtime.models.llm_request import LlmRequest
from runtime.tools import VertexAiSearchTool
from runtime.tools.retrieval import LlamaIndexRetrieval, VertexAiRagRetrieval
from tests.seeds.running import run, runner_for

STORE = "projects/p/locations/global/collections/c/dataStores/d"
CORPUS = "projects/p/locations/l/ragCorpora/1"


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


async def test_rag_engine_is_added_to_a_request() -> None:
    resource = SimpleNamespace(rag_corpus=CORPUS, rag_file_ids=["f"])
    tool = VertexAiRagRetrieval(
        name="docs",
        description="Documents.",
        rag_resources=[resource, {"rag_corpus": "2"}],
        similarity_top_k=4,
        vector_distance_threshold=0.5,
    )
    store = (await retrieval_of(tool)).vertex_rag_store
    assert store and store.rag_resources and store.similarity_top_k == 4
    assert [(found.rag_corpus, found.rag_file_ids) for found in store.rag_resources] == [(CORPUS, ["f"]), ("2", None)]
    with pytest.raises(EngineNeededError, match="openai/gpt-5, which is not Gemini's"):
        await retrieval_of(tool, "openai/gpt-5")
    with pytest.raises(TypeError, match="of the type str"):
        VertexAiRagRetrieval(name="docs", description="", rag_resources=["corpus"])


class Notes:
    def retrieve(self, query: str) -> list[Any]:
        return [SimpleNamespace(text="Paris")] if "France" in query else []


async def test_a_retriever_of_llama_index_is_asked() -> None:
    tool = LlamaIndexRetrieval(name="notes", description="Notes.", retriever=Notes())
    replies: list[Any] = [[("notes", {"query": "capital of France"})], [("notes", {"query": "x"})]]
    scripted = ScriptedLlm(replies=[*({"calls": reply} for reply in replies), "done"])
    events = await run(runner_for(LlmAgent(name="agent", model=scripted, tools=[tool])))
    found = [response.response for event in events for response in event.get_function_responses()]
    assert found == [{"result": "Paris"}, {"result": "No matching result found for the query: x"}]
