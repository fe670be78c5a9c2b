"""The list of the agents that a server has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector_app.server.agents import ServedAgents
from inspector_app.server.endpoints.general import General
from tests.agent_folders import write_agent

GOOD = "from runtime.agents import LlmAgent\nroot_agent = LlmAgent(name='good')\n"


async def test_an_agent_that_cannot_be_loaded_is_left_out_of_the_details_with_a_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folders = {name: Path(write_agent(tmp_path / name, code)) for name, code in (("bad", "1 / 0"), ("good", GOOD))}
    general = General(ServedAgents(folders))
    assert json.loads((await general.list_apps()).body) == ["bad", "good"]
    assert caplog.records == []
    (app,) = json.loads((await general.list_apps(detailed=True)).body)["apps"]
    assert app["name"] == "good"
    (record,) = caplog.records
    assert record.getMessage().startswith("bad is left out of the list of agents: ") and "division by zero" in record.getMessage()
