"""google-adk's import paths, and what an AgentTool's inner run has in common with its caller's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.tools import AgentTool
from tests.seeds.import_paths import PATHS
from tests.seeds.running import llm_agent, run, runner_for


@pytest.mark.rule("R9")
@pytest.mark.parametrize("path", PATHS)
def test_google_adks_import_paths(path: str) -> None:
    module = importlib.import_module(f"runtime.{path}")
    for name in PATHS[path].split():
        assert getattr(module, name) is not None


@pytest.mark.rule("R5")
async def test_an_agent_tools_inner_run_is_part_of_the_callers_invocation() -> None:
    ids: list[str] = []

    class Watcher(BasePlugin):
        async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
            ids.append(callback_context.invocation_id)

    inner = llm_agent("inner", "done")
    call = {"calls": [["inner", {"request": "go"}]]}
    outer = LlmAgent(name="outer", model=ScriptedLlm(replies=[call, "finished"]), tools=[AgentTool(inner)])
    events = await run(runner_for(outer, plugins=[Watcher("watcher")]))
    assert ids == [events[0].invocation_id] * 2
