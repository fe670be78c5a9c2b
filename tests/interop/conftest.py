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
)
"""The modules whose tests are about what a process does, not about its start or its imports."""


@pytest.fixture(scope="module", autouse=True)
def prepared_where_safe(request: pytest.FixtureRequest) -> None:
    """Fork what the tests of these modules start."""
    if request.module.__name__.removeprefix("tests.interop.") in PREPARED:
        request.getfixturevalue("prepared_pythons")
