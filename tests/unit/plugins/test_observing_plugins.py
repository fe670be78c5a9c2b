"""Plugins that only observe: requests are not copied for them."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import ScriptedLlm
from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.plugin_manager import PluginManager
from tests.seeds.running import run, runner_for


class Observer(BasePlugin):
    """Keeps the requests."""

    only_observes = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.seen: list[LlmRequest] = []

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        self.seen.append(llm_request)


class Changer(BasePlugin):
    """May change requests."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        """Change nothing this time."""


@pytest.mark.parametrize("others", [[], [Changer("changer")]], ids=["alone", "beside one that may change"])
async def test_requests_share_their_contents_unless_a_plugin_may_change_them(others: list[BasePlugin]) -> None:
    observer = Observer("observer")
    runner = runner_for(LlmAgent(name="seer", model=ScriptedLlm(replies=["Trees."])), plugins=[observer, *others])
    await run(runner, "one")
    await run(runner, "two")
    first, second = observer.seen
    assert len(second.contents) == 3
    assert (first.contents[0] is second.contents[0]) is not bool(others)


def test_hooks_that_no_plugin_has() -> None:
    manager = PluginManager([Observer("observer")])
    assert manager.takes("before_model_callback") and not manager.takes("before_tool_callback")
    assert not manager.changes("before_model_callback")
    manager.register_plugin(Changer("changer"))
    assert manager.changes("before_model_callback")
