"""Artifacts, memory and sessions."""

from __future__ import annotations

from typing import Any

from google.adk.agents import Agent, LlmAgent, RunConfig
from google.adk.agents.callback_context import CallbackContext
from google.adk.artifacts import InMemoryArtifactService
from google.adk.events import Event, EventActions
from google.adk.memory import InMemoryMemoryService
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_artifacts, load_memory, preload_memory
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from harness import REPLIES, Talk, scenario, shown, text

MODEL = "gemini-2.0-flash"


async def save_report(tool_context: ToolContext) -> dict[str, Any]:
    """Saves a report."""
    report = types.Part.from_bytes(data=b"%PDF-1.7", mime_type="application/pdf")
    version = await tool_context.save_artifact(filename="report.pdf", artifact=report)
    await tool_context.save_artifact("user:profile.txt", types.Part.from_text(text="Ana"))
    loaded = await tool_context.load_artifact("report.pdf")
    missing = await tool_context.load_artifact("nothing.pdf")
    return {
        "version": version,
        "files": await tool_context.list_artifacts(),
        "mime": loaded.inline_data.mime_type,
        "missing": missing is None,
    }


@scenario
async def artifacts() -> Any:
    REPLIES["keeper"] = [[("save_report", {})], "saved", [("save_report", {})], "saved again"]
    talk = Talk(Agent(name="keeper", model=MODEL, tools=[save_report]), artifact_service=InMemoryArtifactService())
    said = [await talk.say("save"), await talk.say("again")]
    service = talk.runner.artifact_service
    names = {"app_name": "docs", "user_id": "u", "session_id": "s", "filename": "report.pdf"}
    return [*said, await service.list_versions(**names), (await service.load_artifact(**names, version=0)).inline_data.mime_type]


@scenario
async def files_of_the_user_as_artifacts() -> Any:
    REPLIES["looker"] = ["seen"]
    runner = InMemoryRunner(Agent(name="looker", model=MODEL), app_name="docs")
    session = await runner.session_service.create_session(app_name="docs", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="Look."), types.Part.from_bytes(data=b"PNG", mime_type="image/png")])
    config = RunConfig(save_input_blobs_as_artifacts=True)
    events = [one async for one in runner.run_async(user_id="u", session_id=session.id, new_message=message, run_config=config)]
    names = {"app_name": "docs", "user_id": "u", "session_id": session.id}
    (name,) = await runner.artifact_service.list_artifact_keys(**names)
    saved = await runner.artifact_service.load_artifact(**names, filename=name)
    stored = await runner.session_service.get_session(**names)
    said = [part.text for part in stored.events[0].content.parts]
    return [len(events), said, name, saved.inline_data.mime_type, len(saved.inline_data.data)]


@scenario
async def artifacts_without_a_service() -> Any:
    failures = []

    async def before(callback_context: CallbackContext) -> None:
        try:
            await callback_context.save_artifact("x.txt", types.Part(text="x"))
        except ValueError as error:
            failures.append("ValueError" if "rtifact service" in str(error) else str(error))

    REPLIES["keeper"] = ["ok"]
    await Talk(Agent(name="keeper", model=MODEL, before_agent_callback=before)).say("x")
    return failures


@scenario
async def loading_artifacts() -> Any:
    service = InMemoryArtifactService()
    names = {"app_name": "docs", "user_id": "u", "session_id": "s"}
    await service.save_artifact(**names, filename="note.txt", artifact=types.Part(text="the note"))
    REPLIES["reader"] = [[("load_artifacts", {"artifact_names": ["note.txt"]})], "read"]
    talk = Talk(Agent(name="reader", model=MODEL, tools=[load_artifacts]), artifact_service=service)
    said = await talk.say("read")
    return [said, (await talk.end())["state"]]


@scenario
async def memory_across_sessions() -> Any:
    REPLIES["InfoCaptureAgent"] = ["Noted: Project Alpha."]
    REPLIES["MemoryRecallAgent"] = [[("load_memory", {"query": "Alpha project"})], "It is Project Alpha."]
    capture = LlmAgent(model=MODEL, name="InfoCaptureAgent", instruction="Acknowledge.")
    recall = LlmAgent(model=MODEL, name="MemoryRecallAgent", instruction="Recall.", tools=[load_memory])
    sessions, memory = InMemorySessionService(), InMemoryMemoryService()
    first = Runner(agent=capture, app_name="memory_app", session_service=sessions, memory_service=memory)
    await sessions.create_session(app_name="memory_app", user_id="mem_user", session_id="session_info")
    events = first.run_async(user_id="mem_user", session_id="session_info", new_message=text("My favorite project is Project Alpha."))
    said = [shown(event) async for event in events]
    completed = await sessions.get_session(app_name="memory_app", user_id="mem_user", session_id="session_info")
    await memory.add_session_to_memory(completed)
    second = Runner(agent=recall, app_name="memory_app", session_service=sessions, memory_service=memory)
    await sessions.create_session(app_name="memory_app", user_id="mem_user", session_id="session_recall")
    found = await memory.search_memory(app_name="memory_app", user_id="mem_user", query="project")
    events = second.run_async(user_id="mem_user", session_id="session_recall", new_message=text("What is my favorite project?"))
    recalled = [event async for event in events]
    return [said, len(found.memories), [memory.author for memory in found.memories], len(recalled), shown(recalled[-1])]


@scenario
async def memory_that_is_preloaded_and_fed() -> Any:
    async def auto_save(callback_context: CallbackContext) -> None:
        await callback_context._invocation_context.memory_service.add_session_to_memory(callback_context._invocation_context.session)

    REPLIES["keeper"] = ["Blue.", "You like blue."]
    memory = InMemoryMemoryService()
    agent = Agent(name="keeper", model=MODEL, tools=[preload_memory], after_agent_callback=auto_save)
    talk = Talk(agent, memory_service=memory)
    said = [await talk.say("I like blue")]
    found = await memory.search_memory(app_name="docs", user_id="u", query="blue")
    return [said, len(found.memories)]


@scenario
async def the_session_service() -> Any:
    service = InMemorySessionService()
    names = {"app_name": "my_app", "user_id": "example_user"}
    session = await service.create_session(**names, state={"initial_key": "initial_value", "user:level": 1, "temp:x": 1})
    event = Event(invocation_id="i", author="system", actions=EventActions(state_delta={"k": [1, {"a": None}], "temp:y": 2}))
    await service.append_event(session, event)
    stored = await service.get_session(**names, session_id=session.id)
    listed = await service.list_sessions(**names)
    result = [session.state, stored.state, len(stored.events), stored.last_update_time == event.timestamp, len(listed.sessions)]
    await service.delete_session(**names, session_id=session.id)
    gone = await service.get_session(**names, session_id=session.id)
    return [*result, gone, (await service.create_session(**names)).state]


@scenario
async def the_in_memory_runner() -> Any:
    REPLIES["greeter"] = ["Hello!", "Bye!"]
    runner = InMemoryRunner(agent=Agent(name="greeter", model=MODEL), app_name="short")
    session = await runner.session_service.create_session(app_name="short", user_id="u")
    events = runner.run(user_id="u", session_id=session.id, new_message=text("hi"))
    said = [shown(event) for event in events]
    return [said, [shown(event) for event in await runner.run_debug("bye", quiet=True)]]


@scenario
async def a_session_that_is_not_there() -> Any:
    runner = InMemoryRunner(agent=Agent(name="greeter", model=MODEL), app_name="short")
    try:
        async for _ in runner.run_async(user_id="u", session_id="none", new_message=text("hi")):
            pass
    except ValueError as error:
        return str(error).startswith("Session not found: none")
    return None


@scenario
async def rewinding() -> Any:
    async def colour(name: str, tool_context: ToolContext) -> str:
        """Sets a colour."""
        tool_context.state["colour"] = name
        await tool_context.save_artifact("colour", types.Part(text=name))
        return name

    REPLIES["painter"] = [[("colour", {"name": "red"})], "red", [("colour", {"name": "blue"})], "blue", "it is red"]
    talk = Talk(Agent(name="painter", model=MODEL, tools=[colour]), artifact_service=InMemoryArtifactService())
    await talk.say("red")
    second = await talk.events("blue")
    await talk.runner.rewind_async(**talk.names, rewind_before_invocation_id=second[0].invocation_id)
    state = (await talk.session()).state
    file = await talk.runner.artifact_service.load_artifact(app_name="docs", **talk.names, filename="colour")
    return [state["colour"], file.text, await talk.say("which?")]
