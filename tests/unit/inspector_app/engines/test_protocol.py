"""Every engine has what the protocol asks for."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from inspector_app.engines.agent_loader import LoadedAgent, load_agent
from inspector_app.engines.child_agent import ChildAgent
from inspector_app.engines.child_engine import ChildEngine
from inspector_app.engines.embedded import EmbeddedEngine
from inspector_app.engines.protocol import Agent, Engine

MEMBERS = sorted(name for name in vars(Engine) if not name.startswith("_"))


@pytest.mark.parametrize("engine", [EmbeddedEngine, ChildEngine])
@pytest.mark.parametrize("name", MEMBERS)
def test_an_engine_has_each_member_of_the_protocol(engine: type, name: str) -> None:
    asked, given = inspect.getattr_static(Engine, name), inspect.getattr_static(engine, name)
    assert isinstance(given, property) == isinstance(asked, property)
    if not isinstance(asked, property):
        wanted = list(inspect.signature(asked).parameters.items())
        present = list(inspect.signature(given).parameters.items())
        assert [(key, value.kind) for key, value in present[: len(wanted)]] == [(key, value.kind) for key, value in wanted]
        assert all(value.default is not value.empty for _, value in present[len(wanted) :]), "what it adds is optional"


@pytest.mark.parametrize("agent", [LoadedAgent, ChildAgent])
@pytest.mark.parametrize("name", sorted(name for name in vars(Agent) if not name.startswith("_") and name not in ("name", "folder")))
def test_an_agent_has_each_member_of_the_protocol(agent: type, name: str) -> None:
    asked, given = inspect.getattr_static(Agent, name), inspect.getattr_static(agent, name)
    assert isinstance(given, property) == isinstance(asked, property)
    if not isinstance(asked, property):
        assert inspect.signature(given).parameters.keys() == inspect.signature(asked).parameters.keys()


def test_an_agent_that_is_not_resumable_says_how_to_make_it_so(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("from runtime.agents import BaseAgent\nroot_agent = BaseAgent(name='plain')\n")
    assert "ResumabilityConfig" in (load_agent(str(tmp_path)).why_not("resume") or "")
