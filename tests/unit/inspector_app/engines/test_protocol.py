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


def methods(protocol: type) -> list[str]:
    """Return the names of a protocol's methods; mypy checks the attributes."""
    return sorted(name for name, member in vars(protocol).items() if not name.startswith("_") and not isinstance(member, property))


@pytest.mark.parametrize("engine", [EmbeddedEngine, ChildEngine])
@pytest.mark.parametrize("name", methods(Engine))
def test_an_engine_has_each_method_of_the_protocol(engine: type, name: str) -> None:
    asked, given = inspect.getattr_static(Engine, name), inspect.getattr_static(engine, name)
    wanted = list(inspect.signature(asked).parameters.items())
    present = list(inspect.signature(given).parameters.items())
    assert [(key, value.kind) for key, value in present[: len(wanted)]] == [(key, value.kind) for key, value in wanted]
    assert all(value.default is not value.empty for _, value in present[len(wanted) :]), "what it adds is optional"


@pytest.mark.parametrize("agent", [LoadedAgent, ChildAgent])
@pytest.mark.parametrize("name", methods(Agent))
def test_an_agent_has_each_method_of_the_protocol(agent: type, name: str) -> None:
    asked, given = inspect.getattr_static(Agent, name), inspect.getattr_static(agent, name)
    assert inspect.signature(given).parameters.keys() == inspect.signature(asked).parameters.keys()


def test_an_agent_that_is_not_resumable_says_how_to_make_it_so(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("from runtime.agents import BaseAgent\nroot_agent = BaseAgent(name='plain')\n")
    assert "ResumabilityConfig" in (load_agent(str(tmp_path)).why_not("resume") or "")
