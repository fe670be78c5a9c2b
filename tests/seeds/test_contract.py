"""The tests of each promise in contract.md's "Runtime" and of each point in api-surface.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
LOOP, RUNTIME, RESUME = (f"seeds/{name}" for name in ("event_loop_pattern", "runtime_event_loop", "resume"))
SURFACE = "interop/test_public_surface.py::test_our_signatures_match_google_adks"
CONTEXTS = "unit/contexts/test_invocation_context.py"
SERVICES = "conformance/clauses"

# Beginning of a promise in contract.md → its tests.
PROMISES: dict[str, list[str]] = {
    "State at N is exact": [
        "unit/history/test_state_at.py::test_with_a_baseline_nothing_is_unknown",
        "unit/history/test_state_at.py::test_without_a_baseline_uncertain_keys_are_unknown",
        "properties/test_history_of_a_database.py::test_state_at_equals_a_plain_replay",
    ],
    "Results of tools that returned": [f"{RESUME}/test_how_it_works.py::test_only_the_call_without_a_committed_result_runs_again"],
    "An event is atomic": [
        f"{LOOP}/test_guarantees.py::test_the_deltas_of_an_event_are_applied_together_or_not_at_all",
        f"{LOOP}/test_error_handling.py::test_a_failed_commit_is_raised_at_the_agents_own_yield_and_changes_nothing",
        "crash/test_kill_while_committing.py::test_a_kill_before_any_statement_loses_no_acknowledged_commit",
    ],
    "Resume never skips and never repeats": [
        f"{RESUME}/test_waiting_calls.py::test_the_invocation_pauses_and_continues_with_the_answer",
        f"{RESUME}/test_how_it_works.py::test_a_resumed_loop_remembers_an_escalation",
        f"{RESUME}/test_how_it_works.py::test_a_parallel_agent_in_a_loop_loses_no_iteration",
        f"{RESUME}/test_waiting_calls.py::test_a_tool_that_returns_nothing_runs_once_and_waits_for_its_answer",
        "unit/resume/test_prefixes.py::test_resuming_after_a_prefix",
        "properties/test_resume_random_trees.py::test_a_run_cut_anywhere_and_resumed_ends_like_the_whole_run",
    ],
    "Rewind restores what was there": [
        "unit/rewind/test_rewind_async.py::test_state_is_restored_including_keys_of_the_creation",
        f"{SERVICES}/append_event.py::none_is_a_value_and_removes_nothing",
    ],
    "An invocation that is finished stays finished": [f"{RESUME}/test_custom_agents.py::test_a_finished_story_yields_nothing_more"],
}

# Point of api-surface.md → the tests of its behaviour. `SURFACE` compares signatures with google-adk's.
POINTS: dict[int, list[str]] = {
    1: [f"{CONTEXTS}::test_a_context_accepts_all_fields_and_reassignment"],
    2: [f"{CONTEXTS}::test_checkpoints_are_set_ended_and_removed"],
    3: [f"{CONTEXTS}::test_an_agents_own_checkpoint_and_its_event"],
    4: [f"{CONTEXTS}::test_the_json_of_checkpoints"],
    5: [
        "unit/agents/test_base_agent.py::test_find_agent_searches_the_tree_below",
        "unit/agents/test_base_agent.py::test_a_clone_is_an_independent_tree",
        "unit/agents/test_base_agent.py::test_duplicate_sub_agent_names_are_logged",
        "unit/plugins/test_plugins.py::test_the_first_return_value_skips_later_plugins_and_the_agents_callbacks",
        "interop/docs_style/callbacks.py::lists_stop_at_the_first_answer",
    ],
    6: [
        "unit/test_runners.py::test_a_runner_is_made_from_an_app_or_an_agent",
        "unit/test_runners.py::test_the_in_memory_runner_has_a_default_app_name",
        "unit/test_runners.py::test_a_session_is_created_only_if_enabled",
        f"{RUNTIME}/test_async_is_primary.py::test_leaving_the_loop_over_the_sync_run_stops_the_agent",
    ],
    7: [
        f"{RESUME}/test_resumable_app.py::test_a_resumable_app_runs_and_stays_finished",
        "unit/compaction/test_compaction.py::test_an_incomplete_configuration_is_rejected",
    ],
    8: [
        f"{SERVICES}/get_session.py::filters_events",
        f"{SERVICES}/get_session.py::equals_the_session_that_was_written",
        f"{SERVICES}/create_session.py::refuses_an_id_that_is_taken",
        f"{SERVICES}/list_sessions.py::lists_a_users_or_all_users_sessions",
        f"{SERVICES}/append_event.py::event_and_deltas_are_stored_and_the_session_is_updated",
        "unit/storage/writing/test_database_session_service.py::test_every_form_of_a_file_url_is_accepted",
    ],
    9: ["unit/events/test_event.py::test_all_fields_are_stored", "seeds/events/test_common_examples.py::test_is_final_response"],
    10: [
        "unit/test_runners.py::test_message_state_delta_and_run_metadata_are_committed",
        "interop/docs_style/settings.py::too_many_model_calls",
        "interop/docs_style/settings.py::streaming",
    ],
    11: [
        f"{CONTEXTS}::test_a_readonly_context_rejects_changes",
        f"{CONTEXTS}::test_contexts_call_the_services_for_their_session",
        f"{CONTEXTS}::test_a_confirmation_request_requires_a_call_id",
    ],
    12: [
        "unit/artifacts/test_artifact_services.py::test_versions_count_from_zero_and_the_newest_is_loaded",
        "unit/artifacts/test_artifact_services.py::test_metadata_of_versions",
        "unit/artifacts/test_file_artifact_service.py::test_every_method_rejects_invalid_names",
    ],
    13: [
        "interop/docs_style/tools.py::a_tool_of_ones_own",
        "unit/tools/test_agent_tool.py::test_plugins_see_inner_events_at_every_depth",
        "unit/tools/test_agent_tool.py::test_skip_summarization_ends_the_turn",
        "unit/tools/test_transfer_to_agent_tool.py::test_only_available_agents_are_accepted",
        "unit/tools/test_exit_loop_tool.py::test_exit_loop_escalates_and_skips_summarization",
    ],
    14: [
        "unit/agents/test_llm_agent.py::test_the_order_of_instructions",
        "unit/agents/test_llm_agent.py::test_a_static_instruction_moves_the_instruction_into_the_conversation",
        "unit/agents/test_llm_agent.py::test_include_contents_none_sends_only_the_current_turn",
        "unit/agents/test_llm_agent.py::test_output_key_stores_the_answer_as_its_schema",
        "interop/docs_style/callbacks.py::error_callbacks_answer",
    ],
    15: ["unit/tools/test_function_tool.py::test_a_call_that_requires_confirmation_asks_the_user_first"],
}

# Statement about versions in api-surface.md's last paragraph → its tests.
VERSIONS: dict[str, list[str]] = {
    "a long-running tool pauses": [f"{RESUME}/test_waiting_calls.py::test_the_invocation_pauses_and_continues_with_the_answer"],
    "`end_of_agent` of the parent on transfer": ["unit/resume/test_prefixes.py::test_an_uninterrupted_run_commits_what_google_adk_commits"],
    "any unfinished invocation can be resumed": [
        f"{RESUME}/test_resuming.py::test_any_unfinished_invocation_can_be_resumed_not_only_the_latest"
    ],
    "a stale append on the database service": [
        "unit/storage/writing/test_database_session_service.py::test_a_stale_session_error_says_who_wrote_and_when"
    ],
}


@pytest.mark.parametrize(
    "test", sorted({SURFACE, *(test for table in (PROMISES, POINTS, VERSIONS) for found in table.values() for test in found)})
)
def test_each_named_test_exists(test: str) -> None:
    path, _, name = test.partition("::")
    assert re.search(rf"def {name}\(", (TESTS / path).read_text("utf-8"))
