"""Processes with google-adk that start in a hundredth of the time."""

from __future__ import annotations

import pytest

PREPARED = (
    "attach.test_attach",
    "attach.test_connection",
    "engines.test_commands",
    "engines.test_debugging",
    "engines.test_free_running",
    "engines.test_recordings",
    "engines.test_reruns",
    "engines.test_sessions",
    "engines.test_twelve_agents",
    "test_adk_web",
    "test_agent_engine_sessions",
    "test_api_server_beside_adk",
    "test_artifacts",
    "test_beside",
    "test_convert",
    "test_eval",
    "test_exchange",
    "test_forks",
    "test_gcs_artifacts",
    "test_google_adk_resumes_ours",
    "test_google_adk_resumes_trees",
    "test_hand_made",
    "test_live_tail",
    "test_postgresql",
    "test_recorder",
    "test_requests",
    "test_rewind_and_compaction",
    "test_routes_beside_adk",
    "test_server_commands",
    "test_sessions",
)
"""The modules whose tests are about what a process does, not about its start or its imports."""


@pytest.fixture(scope="module", autouse=True)
def prepared_where_safe(request: pytest.FixtureRequest) -> None:
    """Fork what the tests of these modules start."""
    if request.module.__name__.removeprefix("tests.interop.") in PREPARED:
        request.getfixturevalue("prepared_pythons")
