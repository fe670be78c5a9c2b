"""The choice of an agent's engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector_app.engines.engine_choice import EngineChoice, NoEngineError, plan_engine
from inspector_app.engines.environments import EnvironmentNotFoundError

ADK = "from google.adk.agents import Agent\n"
OURS = "from runtime.agents import Agent\n"


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


def environment(folder: Path, *, adk: str | None) -> Path:
    """Make an environment as `venv` does, with or without google-adk."""
    site = folder / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").touch(mode=0o755)
    (folder / "pyvenv.cfg").write_text("version = 3.11.4\n")
    if adk is not None:
        (site / f"google_adk-{adk}.dist-info").mkdir()
        (site / f"google_adk-{adk}.dist-info" / "METADATA").write_text(f"Name: google-adk\nVersion: {adk}\n")
    return folder


def agent(folder: Path, code: str) -> Path:
    folder.mkdir()
    (folder / "agent.py").write_text(code)
    return folder


@pytest.mark.parametrize(
    ("code", "adk", "kind"),
    [
        (ADK, "2.13.0", "adk"),
        (ADK, None, "embedded"),
        (OURS, "2.13.0", "embedded"),
        ("import helpers\n", "2.13.0", "adk"),
        (f"{OURS}{ADK}", "2.13.0", "adk"),
        ("from google import adk\nimport runtime\n", "2.13.0", "adk"),
        ("    from google.adk import agents  # in a function\n", "1.0.0", "adk"),
    ],
)
def test_google_adk_runs_what_is_not_written_for_the_embedded_runtime(tmp_path: Path, code: str, adk: str | None, kind: str) -> None:
    environment(tmp_path / ".venv", adk=adk)
    plan = plan_engine(agent(tmp_path / "a", code), EngineChoice())
    assert plan.kind == kind
    assert ("in a process of its own" in plan.sentence) == (kind == "adk")


def test_the_choice_of_the_embedded_runtime_wins(tmp_path: Path) -> None:
    environment(tmp_path / ".venv", adk="2.13.0")
    assert plan_engine(agent(tmp_path / "a", ADK), EngineChoice("embedded")).kind == "embedded"


def test_on_windows_the_embedded_runtime_runs_each_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment(tmp_path / ".venv", adk="2.13.0")
    folder = agent(tmp_path / "a", ADK)
    monkeypatch.setattr(sys, "platform", "win32")
    for choice in (EngineChoice(), EngineChoice("embedded")):
        assert plan_engine(folder, choice).kind == "embedded"
    for choice in (EngineChoice("adk"), EngineChoice("embedded-process"), EngineChoice(debugpy=5678)):
        with pytest.raises(NoEngineError, match="On Windows, agents run in the inspector's own process"):
            plan_engine(folder, choice)


def test_a_chosen_python_is_used(tmp_path: Path) -> None:
    environment(tmp_path / ".venv", adk="2.13.0")
    other = environment(tmp_path / "other", adk="1.39.1")
    plan = plan_engine(agent(tmp_path / "a", OURS), EngineChoice("adk", str(other)))
    assert (plan.kind, plan.decision.environment.adk_version) == ("adk", "1.39.1")


def test_a_chosen_python_without_google_adk_is_refused(tmp_path: Path) -> None:
    bare = environment(tmp_path / "bare", adk=None)
    with pytest.raises(NoEngineError, match="has no google-adk"):
        plan_engine(agent(tmp_path / "a", ADK), EngineChoice("adk", str(bare)))


def test_a_chosen_python_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotFoundError, match="There is no Python at"):
        plan_engine(agent(tmp_path / "a", ADK), EngineChoice("adk", str(tmp_path / "none")))
