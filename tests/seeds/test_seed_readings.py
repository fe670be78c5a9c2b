"""The tests of each decision in seed-readings.md, and those tests that fit in no other module."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.tools import AgentTool
from tests.seeds.running import llm_agent, run, runner_for

TESTS = Path(__file__).resolve().parents[1]
SEEDS = "seeds"
LOOP, RUNTIME, STATE, RESUME = (f"{SEEDS}/{name}" for name in ("event_loop_pattern", "runtime_event_loop", "session_state", "resume"))

# Beginning of a decision → its tests.
DECISIONS: dict[str, list[str]] = {
    # Examples
    "[runtime-event-loop]": [f"{SEEDS}/test_as_written.py::test_each_line_of_the_python_examples_is_in_a_test"],
    "[session-state]": [f"{SEEDS}/test_as_written.py::test_each_line_of_the_python_examples_is_in_a_test"],
    "[event-loop-pattern]": [
        f"{LOOP}/test_async_generator_pattern.py::test_an_agent_that_yields_several_events",
        f"{LOOP}/test_partial_events.py::test_the_seeds_example",
    ],
    "[resume]": [
        f"{RESUME}/test_resumable_app.py::test_a_resumable_app_runs_and_stays_finished",
        f"{RESUME}/test_resuming.py::test_run_async_with_an_invocation_id",
        "end2end/test_api_server.py::test_the_documented_body_resumes_a_failed_invocation",
        f"{SEEDS}/events/test_common_examples.py::test_each_example_is_read_and_final_as_documented",
    ],
    "**StoryFlowAgent**": [
        f"{RESUME}/test_custom_agents.py::test_story_flow_resumes_from_every_event",
        f"{RESUME}/test_custom_agents.py::test_every_spelling_works_in_an_app_that_is_not_resumable",
    ],
    # Runtime
    "A committed end-of-agent counts only if": [
        f"{RESUME}/test_custom_agents.py::test_story_flow_resumes_from_every_event",
        "properties/test_resume_random_trees.py::test_a_run_cut_anywhere_and_resumed_ends_like_the_whole_run",
    ],
    "Checkpoints that a resumed custom agent yields": [
        f"{RESUME}/test_custom_agents.py::test_a_second_kill_at_every_event_of_the_resumed_run_loses_and_repeats_nothing"
    ],
    "The Runner fills in": [
        f"{SEEDS}/events/test_processing_flow.py::test_the_runner_fills_in_invocation_and_branch",
        f"{LOOP}/test_guarantees.py::test_events_of_parallel_agents_get_their_branch",
        f"{SEEDS}/events/test_processing_flow.py::test_the_service_fills_in_a_missing_id_and_timestamp",
        f"{LOOP}/test_runner.py::test_a_message_without_a_role_gets_the_user_role",
    ],
    "What an agent yields that is no valid Event": [
        f"{LOOP}/test_error_handling.py::test_yielding_anything_but_an_event_raises_a_type_error_in_the_agent"
    ],
    "An exception while an event is committed": [
        f"{LOOP}/test_error_handling.py::test_a_failed_commit_is_raised_at_the_agents_own_yield_and_changes_nothing",
        f"{LOOP}/test_error_handling.py::test_workflow_agents_forward_a_commit_error_to_the_child_that_yielded",
        "unit/storage/writing/test_database_session_service.py::test_a_commit_waits_for_a_short_lock",
        f"{RUNTIME}/test_components.py::test_a_failing_service_raises_into_the_tool_and_the_run_can_be_resumed",
    ],
    "Local writes that no event has carried": [
        f"{RUNTIME}/test_dirty_reads.py::test_uncommitted_writes_are_lost_when_the_run_fails",
        f"{RUNTIME}/test_state_updates.py::test_a_direct_write_without_a_delta_is_visible_but_not_stored_and_is_logged",
    ],
    "`create_session`, `get_session`, `list_sessions` return copies": [
        f"{STATE}/test_direct_modification.py::test_returned_sessions_are_copies"
    ],
    "Sync tools, callbacks and instruction providers": [
        f"{RUNTIME}/test_async_is_primary.py::test_sync_tools_callbacks_and_providers_run_on_worker_threads",
        "unit/tools/test_function_tool.py::test_the_context_parameter_is_found_and_not_declared",
        f"{STATE}/test_contexts.py::test_one_function_as_callback_and_as_tool",
    ],
    "BaseAgent, Event, BaseAgentState are pydantic models": [f"{RESUME}/test_custom_agents.py::test_story_flow_runs"],
    "Deep import paths": [f"{SEEDS}/test_seed_readings.py::test_google_adks_import_paths"],
    "AgentTool's inner run": [f"{SEEDS}/test_seed_readings.py::test_an_agent_tools_inner_run_is_part_of_the_callers_invocation"],
    "A new message goes to the agent that spoke last": [
        f"{LOOP}/test_runner.py::test_a_message_goes_to_the_agent_that_answered_last_if_reachable_by_transfer",
        f"{LOOP}/test_runner.py::test_a_message_goes_to_the_root_if_the_last_agent_is_not_reachable",
    ],
    "The Runner can feed the memory service": [
        "unit/memory/test_feeding_memory.py::test_events_are_stored_as_they_are_committed",
        "unit/memory/test_feeding_memory.py::test_a_failure_is_logged_and_does_not_fail_the_run",
    ],
    "`{{x}}` is the escape": [
        f"{STATE}/test_instructions.py::test_placeholders_and_other_braces",
        f"{STATE}/test_instructions.py::test_an_async_provider_can_inject_state",
    ],
    "`temp:` values may be any object": [
        f"{STATE}/test_prefixes.py::test_temp_state_lives_for_the_invocation_is_shared_down_the_tree_and_never_stored",
        f"{STATE}/test_serialisable_values.py::test_values_that_would_not_survive_storage_are_rejected",
    ],
    "`runner.run` also works inside a running loop": [
        f"{RUNTIME}/test_async_is_primary.py::test_leaving_the_loop_over_the_sync_run_stops_the_agent"
    ],
    "`save_artifact` saves at once": [
        "gui/window/test_files.py::test_a_version_without_an_event_is_unconfirmed",
        f"{RUNTIME}/test_components.py::test_a_file_is_saved_immediately_and_recorded_in_the_next_event",
        f"{RUNTIME}/test_components.py::test_a_version_saved_by_a_failed_tool_is_not_recorded",
    ],
    "`transfer_to_agent` on the call event": [
        f"{LOOP}/test_runner.py::test_a_transfer_on_the_call_or_response_event_happens_once",
        f"{LOOP}/test_runner.py::test_a_run_interrupted_at_a_transfer_call_continues_with_the_target",
    ],
    "`is_final_response()`": [f"{SEEDS}/events/test_common_examples.py::test_is_final_response"],
    "Thread safety holds for the in-memory service": [f"{STATE}/test_append_event.py::test_concurrent_appends_lose_nothing"],
    # Inspector
    "Kinds in the stream": ["unit/inspector_app/presentation/test_event_summary.py::test_each_kind_has_its_summary"],
    "Partials are increments": [
        "gui/stream/test_event_list_model.py::test_partials_grow_in_one_row_that_the_final_event_replaces",
        "gui/stream/test_event_list_model.py::test_a_partial_that_begins_with_all_the_text_before_replaces_it",
    ],
    "Held inside a step": ["gui/window/test_state_edits.py::test_uncommitted_values_of_a_held_agent_are_shown_in_a_lane_of_their_own"],
    "Preflight of a custom agent without checkpoints": ["unit/resume/test_resume_plan.py::test_next_steps_are_described"],
    "`invocations`: an agent that returned early": [
        f"{RESUME}/test_custom_agents.py::test_an_agent_that_returned_early_without_its_end_is_interrupted",
        "unit/history/test_invocations.py::test_last_invocation_status_matches_the_manifest",
    ],
    # Server
    "`agent-inspector api_server DIR`": [
        "end2end/test_api_server.py::test_ctrl_c_stops_the_agents_and_a_new_server_resumes_them",
        "end2end/test_api_server.py::test_a_trailing_comma_is_reported_with_its_place",
        "end2end/test_api_server.py::test_a_request_that_a_page_could_send_needs_the_token",
    ],
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_the_tests_of_each_decision_exist(decision: str) -> None:
    for test in DECISIONS[decision]:
        path, _, name = test.partition("::")
        assert re.search(rf"def {name}\(", (TESTS / path).read_text("utf-8")), test


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


@pytest.mark.parametrize("path", PATHS)
def test_google_adks_import_paths(path: str) -> None:
    module = importlib.import_module(f"runtime.{path}")
    for name in PATHS[path].split():
        assert getattr(module, name) is not None


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
