"""`Runner.run_debug`."""

from __future__ import annotations

import pytest

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import InMemoryRunner
from tests.seeds.running import texts


def tell() -> str:
    """Tell."""
    return "told"


def agent() -> LlmAgent:
    return LlmAgent(name="a", model=ScriptedLlm(replies=[Reply(calls=[("tell", {})], thought="hm"), "one", "two"]), tools=[tell])


async def test_run_debug_prints_the_conversation_and_returns_the_events(capsys: pytest.CaptureFixture[str]) -> None:
    events = await InMemoryRunner(agent=agent()).run_debug(["hi", "again"])
    assert texts(events)[-2:] == ["one", "two"]
    assert capsys.readouterr().out == "user > hi\na > one\nuser > again\na > two\n"


async def test_verbose_prints_calls_and_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runner = InMemoryRunner(agent=agent())
    await runner.run_debug("hi", verbose=True)
    assert capsys.readouterr().out == 'user > hi\na > [thought] hm\na > [calls tell {}]\na > [tell returned {"result": "told"}]\na > one\n'
    await runner.run_debug("again", quiet=True)
    assert capsys.readouterr().out == ""
