"""Turns of agents whose environment variables differ."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from inspector_app.engines.env_file import AgentEnvironment
from inspector_app.server import agents
from inspector_app.server.agents import AgentBusyError, Turns


def environment(folder: Path, value: str) -> AgentEnvironment:
    folder.mkdir()
    (folder / ".env").write_text(f"TURN_OF={value}\n")
    return AgentEnvironment(folder)


@pytest.mark.rule("I5")
async def test_agents_with_other_variables_wait_for_each_other(tmp_path: Path) -> None:
    turns, seen = Turns(), []
    first, second = environment(tmp_path / "a", "a"), environment(tmp_path / "b", "b")
    began, may_end = asyncio.Event(), asyncio.Event()

    async def use(used: AgentEnvironment) -> None:
        async with turns.turn(used):
            seen.append(os.environ["TURN_OF"])
            began.set()
            await may_end.wait()
            seen.append(os.environ["TURN_OF"])

    async with asyncio.TaskGroup() as group:
        group.create_task(use(first))
        group.create_task(use(second))
        await began.wait()
        may_end.set()
    assert seen == ["a", "a", "b", "b"]
    assert "TURN_OF" not in os.environ


async def test_agents_with_the_same_variables_run_at_the_same_time(tmp_path: Path) -> None:
    turns = Turns()
    async with turns.turn(environment(tmp_path / "a", "same")), turns.turn(environment(tmp_path / "b", "same")):
        assert os.environ["TURN_OF"] == "same"


async def test_a_turn_that_does_not_come_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "SECONDS_FOR_A_TURN", 0)
    turns = Turns()
    async with turns.turn(environment(tmp_path / "a", "a")):
        with pytest.raises(AgentBusyError, match="Try again"):
            async with turns.turn(environment(tmp_path / "b", "b")):
                pass
    async with turns.turn(AgentEnvironment(tmp_path / "b")):
        assert os.environ["TURN_OF"] == "b"
