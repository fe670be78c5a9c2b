"""google-adk's import paths, and what an AgentTool's inner run has in common with its caller's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.tools import AgentTool
from tests.seeds.running import llm_agent, run, runner_for

PATHS = {
    "agents": "Agent BaseAgent BaseAgentState CallbackContext InvocationContext LlmAgent LoopAgent ParallelAgent RunConfig SequentialAgent"
    " ToolContext",
    "agents.base_agent": "BaseAgent BaseAgentState",
    "agents.callback_context": "CallbackContext",
    "agents.invocation_context": "InvocationContext",
    "agents.llm_agent": "Agent LlmAgent",
    "agents.loop_agent": "LoopAgent LoopAgentState",
    "agents.parallel_agent": "ParallelAgent",
    "agents.readonly_context": "ReadonlyContext",
    "agents.run_config": "RunConfig StreamingMode",
    "agents.sequential_agent": "SequentialAgent SequentialAgentState",
    "apps": "App ResumabilityConfig",
    "apps.app": "App EventsCompactionConfig ResumabilityConfig",
    "artifacts": "BaseArtifactService FileArtifactService InMemoryArtifactService",
    "artifacts.in_memory_artifact_service": "InMemoryArtifactService",
    "errors.already_exists_error": "AlreadyExistsError",
    "errors.input_validation_error": "InputValidationError",
    "events": "Event EventActions",
    "events.event": "Event",
    "events.event_actions": "EventActions",
    "memory": "BaseMemoryService InMemoryMemoryService",
    "memory.in_memory_memory_service": "InMemoryMemoryService",
    "models": "BaseLlm Gemini LLMRegistry LlmRequest LlmResponse",
    "models.base_llm": "BaseLlm",
    "models.llm_request": "LlmRequest",
    "models.llm_response": "LlmResponse",
    "models.registry": "LLMRegistry",
    "planners": "BasePlanner BuiltInPlanner PlanReActPlanner",
    "plugins": "BasePlugin LoggingPlugin PluginManager",
    "plugins.base_plugin": "BasePlugin",
    "plugins.plugin_manager": "PluginManager",
    "runners": "InMemoryRunner Runner",
    "sessions": "BaseSessionService DatabaseSessionService InMemorySessionService Session SqliteSessionService State",
    "sessions.base_session_service": "BaseSessionService GetSessionConfig ListSessionsResponse",
    "sessions.database_session_service": "DatabaseSessionService",
    "sessions.in_memory_session_service": "InMemorySessionService",
    "sessions.session": "Session",
    "sessions.sqlite_session_service": "SqliteSessionService",
    "sessions.state": "State",
    "tools": "AgentTool BaseTool FunctionTool LongRunningFunctionTool ToolContext TransferToAgentTool exit_loop google_search"
    " load_artifacts load_memory preload_memory transfer_to_agent url_context",
    "tools.agent_tool": "AgentTool",
    "tools.base_tool": "BaseTool",
    "tools.base_toolset": "BaseToolset",
    "tools.exit_loop_tool": "exit_loop",
    "tools.function_tool": "FunctionTool",
    "tools.google_search_tool": "GoogleSearchTool google_search",
    "tools.load_artifacts_tool": "load_artifacts_tool",
    "tools.load_memory_tool": "load_memory_tool",
    "tools.long_running_tool": "LongRunningFunctionTool",
    "tools.preload_memory_tool": "preload_memory_tool",
    "tools.tool_confirmation": "ToolConfirmation",
    "tools.tool_context": "ToolContext",
    "tools.transfer_to_agent_tool": "TransferToAgentTool transfer_to_agent",
    "utils.instructions_utils": "inject_session_state",
}


@pytest.mark.rule("R9")
@pytest.mark.parametrize("path", PATHS)
def test_google_adks_import_paths(path: str) -> None:
    module = importlib.import_module(f"runtime.{path}")
    for name in PATHS[path].split():
        assert getattr(module, name) is not None


@pytest.mark.rule("R5")
async def test_an_agent_tools_inner_run_is_part_of_the_callers_invocation() -> None:
    ids: list[str] = []

    class Watcher(BasePlugin):
        async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
            ids.append(callback_context.invocation_id)

    inner = llm_agent("inner", "done")
    call = {"calls": [["inner", {"request": "go"}]]}
    outer = LlmAgent(name="outer", model=ScriptedLlm(replies=[call, "finished"]), tools=[AgentTool(inner)])
    events = await run(runner_for(outer, plugins=[Watcher("watcher")]))
    assert ids == [events[0].invocation_id] * 2
