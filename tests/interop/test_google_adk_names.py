"""The page of google-adk's names agrees with the installed versions and with the embedded runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector_app.engines.agent_loader import load_agent
from runtime.border import MODULES, NAMES, is_across, is_stand_in
from runtime.errors.engine_needed_error import EngineNeededError
from tests.interop.google_adk import adk_1_25_python, adk_python
from tests.interop.google_adk_names import DOCUMENT, ENGINE, HERE, NOT_PLANNED, page, public_names, status_of


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
        ("a2a.utils.agent_to_a2a", "to_a2a", ENGINE),
        ("telemetry", "trace_call_llm", NOT_PLANNED),
    ],
)
def test_where_names_are(module: str, name: str, status: str) -> None:
    assert status_of(module, name) == status


AGENT = """
from google.adk.agents import LlmAgent

found = {}
for module, name in NAMES:
    exec(f"from google.adk{module and '.' + module} import {name} as last", globals())
    found[module, name] = last
root_agent = LlmAgent(name="importer", description="", instruction="")
found["", ""] = root_agent
root_agent.__dict__["found"] = found
"""


@pytest.mark.parametrize("version", ["1.25", "2.13"])
def test_every_public_name_is_there_or_says_at_its_use_what_it_needs(version: str, tmp_path: Path) -> None:
    names = public_names(adk_python() if version == "2.13" else adk_1_25_python())
    wanted = [(module, name) for module in sorted(names) for name in sorted(names[module])]
    (tmp_path / "importer").mkdir()
    (tmp_path / "importer" / "agent.py").write_text(AGENT.replace("NAMES", repr(wanted)))
    found = load_agent(tmp_path / "importer").app.root_agent.__dict__["found"]
    for module, name in wanted:
        assert is_stand_in(found[module, name]) == (status_of(module, name) != HERE), (module, name)
        if is_stand_in(found[module, name]):
            with pytest.raises(EngineNeededError, match=rf"^google\.adk(\.{module})?\.{name} needs google-adk"):
                found[module, name]()


def test_the_border_has_only_names_of_google_adk() -> None:
    names = {**public_names(adk_1_25_python())}
    for module, more in public_names(adk_python()).items():
        names[module] = names.get(module, set()) | more
    assert [one for one in MODULES if not any(is_across(module) and f"{module}.".startswith(f"{one}.") for module in names)] == []
    assert {module: set(written.split()) - names.get(module, set()) for module, written in NAMES.items()} == {
        module: set() for module in NAMES
    }
