"""The file of the DebugLoggingPlugin."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from google.genai import types

from runtime.models.scripted_llm import Reply
from runtime.plugins import DebugLoggingPlugin
from runtime.sessions import Session
from runtime.tools import AgentTool, ToolContext
from tests.seeds.running import llm_agent, run, runner_for

pytestmark = pytest.mark.rule("R11")


def remember(fact: str, tool_context: ToolContext) -> dict[str, str]:
    """Remembers."""
    tool_context.state.update({"fact": fact, "api_key": "sk-1", "temp:client": object(), "user:config": {"client_secret": "sk-2"}})
    return {"token": "sk-3", "ok": fact}


def documents(file: Path) -> list[Any]:
    return list(yaml.safe_load_all(file.read_text()))


async def test_each_invocation_is_a_document_without_secrets(tmp_path: Path) -> None:
    file = tmp_path / "debug.yaml"
    agent = llm_agent("busy", Reply(calls=[("remember", {"fact": "ü"})]), "done", "again", tools=[remember], instruction="Be brief.")
    runner = runner_for(agent, plugins=[DebugLoggingPlugin(output_path=str(file))])
    await run(runner, "one")
    await run(runner, "two")
    first, second = documents(file)
    assert [entry["entry_type"] for entry in first["entries"]] == [
        "user_message",
        "invocation_start",
        "agent_start",
        *["llm_request", "llm_response", "event"],
        *["tool_call", "tool_response", "event"],
        *["llm_request", "llm_response", "event"],
        "agent_end",
        "session_state_snapshot",
        "invocation_end",
    ]
    assert first["session_id"] == second["session_id"] == "s"
    request = first["entries"][3]["data"]
    assert request["tools"] == ["remember"]
    assert "Be brief." in request["config"]["system_instruction"]
    assert first["entries"][7]["data"]["result"] == {"token": "•••", "ok": "ü"}
    assert first["entries"][-2]["data"]["state"] == {"fact": "ü", "api_key": "•••", "user:config": {"client_secret": "•••"}}
    assert "sk-" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


async def test_the_plugin_can_be_tried_with_a_mocked_context(tmp_path: Path) -> None:
    file = tmp_path / "debug.yaml"
    plugin = DebugLoggingPlugin(output_path=str(file))
    context = Mock(invocation_id="i", branch=None)
    context.agent.name = "busy"
    context.session = Session(id="s", app_name="app", user_id="u")
    await plugin.before_run_callback(invocation_context=context)
    await plugin.after_run_callback(invocation_context=context)
    assert [document["session_id"] for document in documents(file)] == ["s"]


async def test_a_failed_run_is_written_with_its_errors_and_bytes_by_their_number(tmp_path: Path) -> None:
    def broken(request: Any) -> Reply:
        raise ValueError("no answer")

    file = tmp_path / "debug.yaml"
    plugin = DebugLoggingPlugin(output_path=str(file), include_session_state=False, include_system_instruction=False)
    runner = runner_for(llm_agent("broken", broken, instruction="Be brief."), plugins=[plugin])
    picture = types.Part(inline_data=types.Blob(data=b"12345", mime_type="image/png"))
    with pytest.raises(ValueError, match="no answer"):
        [event async for event in runner.run_async(user_id="u", session_id="s", new_message=types.UserContent([picture]))]
    (document,) = documents(file)
    told = {entry["entry_type"]: entry["data"] for entry in document["entries"]}
    assert {"llm_error", "agent_error", "run_error"} <= told.keys()
    assert told["run_error"] == {"error_type": "ValueError", "error_message": "no answer"}
    assert "session_state_snapshot" not in told
    assert told["llm_request"]["config"]["system_instruction_length"] > 0
    assert told["user_message"]["content"]["parts"][0]["inline_data"] == {"data": "<5 bytes>", "mime_type": "image/png"}


@pytest.mark.logs("could not be written")
async def test_a_file_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    runner = runner_for(llm_agent("a", "x"), plugins=[DebugLoggingPlugin(output_path=str(tmp_path))])
    assert len(await run(runner)) == 1


async def test_an_agent_as_a_tool_is_part_of_its_callers_document(tmp_path: Path) -> None:
    file = tmp_path / "debug.yaml"
    outer = llm_agent("outer", Reply(calls=[("inner", {"request": "?"})]), "done", tools=[AgentTool(llm_agent("inner", "!"))])
    await run(runner_for(outer, plugins=[DebugLoggingPlugin(output_path=str(file))]))
    (document,) = documents(file)
    assert [entry["agent_name"] for entry in document["entries"] if entry["entry_type"] == "agent_end"] == ["inner", "outer"]
