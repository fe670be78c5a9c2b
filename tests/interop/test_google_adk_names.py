"""The page of google-adk's names agrees with the installed versions and with the embedded runtime."""

from __future__ import annotations

import pytest

from tests.interop.google_adk_names import DOCUMENT, ENGINE, HERE, NOT_PLANNED, page, status_of


@pytest.mark.rule("R11")
def test_the_page_is_as_generated() -> None:
    written, made = DOCUMENT.read_text(encoding="utf-8").splitlines(), page().splitlines()
    changed = sorted(set(written) ^ set(made))
    assert changed == [], "run: python -m tests.interop.google_adk_names"
    assert written == made


@pytest.mark.parametrize(
    ("module", "name", "status"),
    [
        ("agents", "LlmAgent", HERE),
        ("", "Context", HERE),
        ("workflow", "Workflow", ENGINE),
        ("a2a.utils.agent_to_a2a", "to_a2a", HERE),
        ("telemetry", "trace_call_llm", NOT_PLANNED),
    ],
)
def test_where_names_are(module: str, name: str, status: str) -> None:
    assert status_of(module, name) == status
