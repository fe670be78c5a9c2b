"""`load_memory`, `preload_memory` and `load_artifacts`: the requests and responses that the model receives."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, ToolContext
from runtime.agents.callback_context import ServiceMissingError
from runtime.artifacts import InMemoryArtifactService
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.events import Event
from runtime.memory import InMemoryMemoryService
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm, instruction_text
from runtime.tools import load_artifacts, load_memory, preload_memory
from runtime.tools.load_artifacts_tool import LoadArtifactsTool
from tests.seeds.running import run, runner_for, stored

NAMES = {"app_name": "app", "user_id": "u"}


def agent(seen: list[LlmRequest], tool: Any, *replies: Any) -> LlmAgent:
    def note(request: LlmRequest, reply: Any) -> Any:
        seen.append(request)
        return reply

    scripted = [lambda request, reply=reply: note(request, reply) for reply in replies]
    return LlmAgent(name="agent", model=ScriptedLlm(replies=scripted), tools=[tool])


async def remembering(text: str) -> InMemoryMemoryService:
    memory = InMemoryMemoryService()
    content = types.Content(role="user", parts=[types.Part(text=text)])
    await memory.add_events_to_memory(**NAMES, events=[Event(author="user", id="1", content=content, timestamp=0)])
    return memory


async def test_load_memory_returns_the_memories() -> None:
    seen: list[LlmRequest] = []
    call = Reply(calls=[("load_memory", {"query": "tea"})])
    runner = runner_for(agent(seen, load_memory, call, "done"), memory_service=await remembering("I like tea"))
    events = await run(runner)
    response = events[1].get_function_responses()[0].response
    assert response is not None and [one["content"]["parts"][0]["text"] for one in response["result"]["memories"]] == ["I like tea"]
    assert "`load_memory`" in instruction_text(seen[0])
    declaration = seen[0].config.tools[0].function_declarations[0]  # type: ignore[index, union-attr]
    assert (declaration.name, declaration.parameters.required) == ("load_memory", ["query"])  # type: ignore[union-attr]


async def test_load_memory_without_a_service_is_an_error() -> None:
    runner = runner_for(agent([], load_memory, Reply(calls=[("load_memory", {"query": "tea"})])))
    with pytest.raises(ServiceMissingError, match="memory_service"):
        await run(runner)


async def test_preload_memory_adds_memories_to_the_instruction() -> None:
    seen: list[LlmRequest] = []
    runner = runner_for(agent(seen, preload_memory, "x"), memory_service=await remembering("I like tea"))
    await run(runner, "What about tea?")
    assert "user: I like tea" in instruction_text(seen[0]) and not seen[0].config.tools
    seen.clear()
    await run(runner, "Weather")
    assert "earlier conversations" not in instruction_text(seen[0])


async def test_preload_memory_without_a_service_does_not_fail_the_run(caplog: pytest.LogCaptureFixture) -> None:
    await run(runner_for(agent([], preload_memory, "x")))
    assert "memory could not be searched" in caplog.text


async def files() -> InMemoryArtifactService:
    service = InMemoryArtifactService()
    contents = {
        "note.txt": types.Part(text="a note"),
        "user:photo": types.Part.from_bytes(data=b"png", mime_type="image/png"),
        "table.csv": types.Part.from_bytes(data="ä,b".encode(), mime_type="text/csv; charset=utf-8"),
        "zip": types.Part.from_bytes(data=b"zip!", mime_type="application/zip"),
    }
    for name, part in contents.items():
        await service.save_artifact(**NAMES, session_id="s", filename=name, artifact=part)
    return service


async def test_load_artifacts_sends_files_in_one_request_only(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[LlmRequest] = []
    names = ["note.txt", "photo", "table.csv", "zip", "../none"]
    replies = [Reply(calls=[("load_artifacts", {"artifact_names": names})]), "done", "again"]
    runner = runner_for(agent(seen, load_artifacts, *replies), artifact_service=await files())
    await run(runner)
    assert '["note.txt", "table.csv", "user:photo", "zip"]' in instruction_text(seen[0])
    shown = [[part.text or part.inline_data for part in content.parts or []] for content in seen[1].contents[3:]]
    assert shown == [
        ["Artifact note.txt is:", "a note"],
        ["Artifact photo is:", types.Blob(data=b"png", mime_type="image/png")],
        ["Artifact table.csv is:", "ä,b"],
        ["Artifact zip is:", "[4 bytes of application/zip, which cannot be shown]"],
    ]
    assert "asked for the file '../none', which does not exist" in caplog.text
    await run(runner)
    assert "a note" not in str(seen[2].contents)
    assert "a note" not in str((await stored(runner)).events)


async def test_files_can_be_processed_before_they_are_sent(caplog: pytest.LogCaptureFixture) -> None:
    def process(part: types.Part, name: str) -> types.Part | None:
        if name == "zip":
            raise OSError("broken")
        return None if name == "table.csv" else types.Part(text=f"own {name}")

    async def process_later(part: types.Part, name: str) -> types.Part | None:
        return process(part, name)

    for given in (process, process_later):
        seen: list[LlmRequest] = []
        replies = [Reply(calls=[("load_artifacts", {"artifact_names": ["photo", "table.csv", "zip"]})]), "done"]
        await run(runner_for(agent(seen, LoadArtifactsTool(process_artifact=given), *replies), artifact_service=await files()))
        (shown,) = seen[1].contents[3:]
        assert [part.text for part in shown.parts or []] == ["Artifact photo is:", "own user:photo"]
        assert "'zip' could not be processed" in caplog.text
        caplog.clear()


def test_spreadsheets_need_the_google_adk_engine() -> None:
    with pytest.raises(EngineNeededError, match="enable_spreadsheet_parsing=True"):
        LoadArtifactsTool(enable_spreadsheet_parsing=True)


async def test_without_files_the_instruction_does_not_mention_them() -> None:
    seen: list[LlmRequest] = []
    await run(runner_for(agent(seen, load_artifacts, "x"), artifact_service=InMemoryArtifactService()))
    assert "load_artifacts" not in instruction_text(seen[0])


async def test_a_subclass_may_add_the_files_itself() -> None:
    class Own(LoadArtifactsTool):
        async def _append_artifacts_to_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
            version = await tool_context.get_artifact_version("note.txt")
            assert version is not None and await tool_context.get_artifact_version("note.txt", 7) is None
            llm_request.append_instructions([f"Own list: {await tool_context.list_artifacts()}, {version.version}"])

    seen: list[LlmRequest] = []
    await run(runner_for(agent(seen, Own(), "x"), artifact_service=await files()))
    assert "Own list: ['note.txt'" in instruction_text(seen[0]) and "There are these files" not in instruction_text(seen[0])
    assert seen[0].config.tools


async def test_names_that_are_not_a_list_are_reported_to_the_model() -> None:
    call = Reply(calls=[("load_artifacts", {"artifact_names": "note.txt"})])
    events = await run(runner_for(agent([], load_artifacts, call, "done"), artifact_service=await files()))
    assert "list of file names" in events[1].get_function_responses()[0].response["error"]  # type: ignore[index]
