"""`agent-inspector api_server` with agents whose environment has google-adk: they run on the embedded runtime, and a line names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end2end.api_server import api_server
from tests.interop.google_adk import adk_python

PLAIN = "from google.adk.agents import LlmAgent\n\nroot_agent = LlmAgent(name='plain')\n"
GRAPH = "from google.adk.workflow import Workflow\n\nroot_agent = Workflow(name='graph')\n"
OURS = "from runtime.agents import LlmAgent\n\nroot_agent = LlmAgent(name='ours')\n"


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    for name, code in (("plain", PLAIN), ("graph", GRAPH), ("ours", OURS)):
        (tmp_path / "agents" / name).mkdir(parents=True)
        (tmp_path / "agents" / name / "agent.py").write_text(code)
    (tmp_path / ".venv").symlink_to(Path(adk_python()).parent.parent)
    return tmp_path / "agents"


def test_agents_with_a_google_adk_of_their_own_are_named_with_the_command_that_serves_them(agents: Path) -> None:
    adk = f"google-adk 2.13.0: `{agents.parent}/.venv/bin/adk api_server {agents}` serves"
    with api_server(agents) as server:
        message = {"app_name": "graph", "user_id": "u", "session_id": "s", "new_message": {"parts": [{"text": "x"}]}}
        server.ask("POST", "/apps/graph/users/u/sessions/s", {})
        answer = server.ask("POST", "/run", message)
        assert answer.status == 500
        assert "google.adk.workflow.Workflow needs google-adk (" in answer.json["detail"]
        assert answer.json["detail"].endswith(f"Its environment has {adk} it as it is.")
        assert server.stop() == 130
        assert server.process.stderr is not None
        told = server.process.stderr.read()
    start = "agent-inspector: graph, plain are served on the embedded runtime, although their environment has"
    assert told == f"{start} {adk} them as they are.\n"


def test_a_single_agent_is_named_too(agents: Path) -> None:
    with api_server(agents / "plain") as server:
        assert server.stop() == 130
        assert server.process.stderr is not None
        assert server.process.stderr.read().startswith(
            "agent-inspector: plain is served on the embedded runtime, although its environment has"
        )
