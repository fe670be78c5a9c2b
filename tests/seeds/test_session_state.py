"""Seed: session-state, section by section."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from google.genai.types import Content, Part
from pydantic import Field

from runtime.agents import CallbackContext, LlmAgent, SequentialAgent, ToolContext
from runtime.agents.readonly_context import ReadonlyContext
from runtime.errors import AlreadyExistsError, UnstorableValueError
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService, State
from runtime.utils import instructions_utils
from runtime.utils.instructions_utils import MissingStateKeyError
from tests.seeds.running import run, runner_for, stored


class Asked(ScriptedLlm):
    """Keeps the system instructions it was sent."""

    instructions: list[str] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        self.instructions.append(llm_request.config.system_instruction)
        async for response in super().generate_content_async(llm_request, stream):
            yield response


async def _instruction(instruction: Any, state: dict[str, Any]) -> str:
    """Return the first paragraph of what the model was told."""
    llm = Asked(replies=["ok"])
    runner = runner_for(LlmAgent(name="StoryGenerator", model=llm, instruction=instruction))
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s", state=state)
    await run(runner)
    return llm.instructions[0].split("\n\n")[0]


class TestPrefixes:
    """ "Organizando el State con Prefijos": whose each scope is, and how long it lives."""

    async def test_user_state_is_shared_by_a_users_sessions_and_app_state_by_all_users(self) -> None:
        service = InMemorySessionService()
        one = await service.create_session(app_name="app", user_id="ana", session_id="1")
        await service.append_event(
            one, Event(author="system", actions=EventActions(state_delta={"k": 1, "user:lang": "fr", "app:code": "SAVE10"}))
        )
        two = await service.create_session(app_name="app", user_id="ana", session_id="2")
        other = await service.create_session(app_name="app", user_id="bo", session_id="1")
        elsewhere = await service.create_session(app_name="another", user_id="ana", session_id="1")
        assert two.state == {"user:lang": "fr", "app:code": "SAVE10"}
        assert other.state == {"app:code": "SAVE10"}
        assert elsewhere.state == {}

    async def test_temp_state_lives_for_the_invocation_is_shared_down_the_tree_and_never_stored(self) -> None:
        seen: list[Any] = []

        def first(tool_context: ToolContext) -> str:
            tool_context.state["temp:raw"] = opaque
            return "ok"

        def second(tool_context: ToolContext) -> str:
            seen.append(tool_context.state.get("temp:raw"))
            return "ok"

        opaque = object()  # temp: values may be any object
        agents = [
            LlmAgent(name=tool.__name__ + "_agent", model=ScriptedLlm(replies=[Reply(calls=[(tool.__name__, {})]), "done"]), tools=[tool])
            for tool in (first, second)
        ]
        runner = runner_for(SequentialAgent(name="both", sub_agents=list(agents)))
        await run(runner)
        assert seen == [opaque]
        session = await stored(runner)
        assert session.state == {}
        assert all(not event.actions.state_delta for event in session.events)
        later = runner_for(LlmAgent(name="later", model=ScriptedLlm(replies=[Reply(calls=[("second", {})]), "x"]), tools=[second]))
        later.session_service = runner.session_service
        await run(later)
        assert seen == [opaque, None]


class TestTemplates:
    """ "Usando Plantillas {key}" and "Evitando la Inyección de Estado con InstructionProvider"."""

    async def test_a_key_is_filled_in(self) -> None:
        told = await _instruction("Write a short story about a cat, focusing on the theme: {topic}.", {"topic": "friendship"})
        assert told == "Write a short story about a cat, focusing on the theme: friendship."

    @pytest.mark.parametrize(
        ("template", "state", "filled"),
        [
            ("{a} {user:b} {app:c}", {"a": 1, "user:b": [2], "app:c": None}, "1 [2] "),
            ("[{missing?}]", {}, "[]"),
            ("[{here?}]", {"here": "x"}, "[x]"),
            ("{{a}} {a}", {"a": 1}, "{a} 1"),
            ('{"json": {"a": 1}} {a}', {"a": 1}, '{"json": {"a": 1}} 1'),
            ("{} { a } {a-b} {1}", {"a": 1}, "{} 1 {a-b} {1}"),
            ("{a}", {"a": "{b}", "b": 1}, "{b}"),
        ],
    )
    async def test_braces(self, template: str, state: dict[str, Any], filled: str) -> None:
        assert await _instruction(template, state) == filled

    async def test_a_missing_key_names_itself_the_agent_and_the_instruction(self) -> None:
        with pytest.raises(MissingStateKeyError) as caught:
            await _instruction("Focus on {topic}.", {})
        for part in ("topic", "StoryGenerator", "Focus on {topic}."):
            assert part in str(caught.value)

    async def test_a_providers_text_is_kept_verbatim(self) -> None:
        def my_instruction_provider(context: ReadonlyContext) -> str:
            return "This is an instruction with {{literal_braces}} that will not be replaced."

        told = await _instruction(my_instruction_provider, {})
        assert told == "This is an instruction with {{literal_braces}} that will not be replaced."

    async def test_an_async_provider_fills_in_state_itself(self) -> None:
        async def my_dynamic_instruction_provider(context: ReadonlyContext) -> str:
            template = "This is a {adjective} instruction with {{literal_braces}}."
            return await instructions_utils.inject_session_state(template, context)

        told = await _instruction(my_dynamic_instruction_provider, {"adjective": "short"})
        assert told == "This is a short instruction with {literal_braces}."

    async def test_a_provider_cannot_change_the_state(self) -> None:
        def provider(context: ReadonlyContext) -> str:
            context.state["k"] = 1  # type: ignore[index]
            return ""

        with pytest.raises(TypeError):
            await _instruction(provider, {})


class TestOutputKey:
    """ "La Manera Fácil: output_key", as written: `runner.run` inside async code."""

    async def test_the_answer_is_saved(self) -> None:
        greeting_agent = LlmAgent(
            name="Greeter",
            model=ScriptedLlm(replies=["Hello there! How can I help you today?"]),
            instruction="Generate a short, friendly greeting.",
            output_key="last_greeting",
        )
        app_name, user_id, session_id = "state_app", "user1", "session1"
        session_service = InMemorySessionService()
        runner = Runner(agent=greeting_agent, app_name=app_name, session_service=session_service)
        session = await session_service.create_session(app_name=app_name, user_id=user_id, session_id=session_id)
        assert session.state == {}
        user_message = Content(parts=[Part(text="Hello")])
        final = [
            event for event in runner.run(user_id=user_id, session_id=session_id, new_message=user_message) if event.is_final_response()
        ]
        assert len(final) == 1
        updated_session = await session_service.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
        assert updated_session is not None
        assert updated_session.state == {"last_greeting": "Hello there! How can I help you today?"}


class TestAppendEvent:
    """ "La Manera Estándar: EventActions.state_delta" and "Lo que Hace append_event"."""

    async def test_a_system_events_delta_with_every_scope(self) -> None:
        service = InMemorySessionService()
        session = await service.create_session(
            app_name="state_app_manual", user_id="user2", session_id="session2", state={"user:login_count": 0, "task_status": "idle"}
        )
        now = time.time()
        changes = {
            "task_status": "active",
            "user:login_count": session.state.get("user:login_count", 0) + 1,
            "user:last_login_ts": now,
            "temp:validation_needed": True,
        }
        event = Event(invocation_id="inv_login_update", author="system", actions=EventActions(state_delta=changes), timestamp=now)
        await service.append_event(session, event)
        updated = await service.get_session(app_name="state_app_manual", user_id="user2", session_id="session2")
        assert updated is not None
        assert updated.state == {"task_status": "active", "user:login_count": 1, "user:last_login_ts": now}
        assert updated.last_update_time == now
        assert "temp:validation_needed" not in updated.events[0].actions.state_delta

    async def test_none_is_stored_and_removes_nothing(self) -> None:
        service = InMemorySessionService()
        session = await service.create_session(app_name="app", user_id="u", session_id="s", state={"k": 1})
        await service.append_event(session, Event(author="system", actions=EventActions(state_delta={"k": None})))
        assert session.state == {"k": None}

    async def test_returned_sessions_are_copies(self) -> None:
        service = InMemorySessionService()
        key = {"app_name": "app", "user_id": "u", "session_id": "s"}
        created = await service.create_session(**key, state={"cart": [1]})  # type: ignore[arg-type]
        created.state["cart"].append(2)
        event = Event(author="a", content=Content(parts=[Part(text="x")]))
        await service.append_event(created, event)
        got = await service.get_session(**key)
        assert got is not None
        got.events[0].author = "someone else"
        got.state["cart"].append(3)
        listed = (await service.list_sessions(app_name="app")).sessions[0]
        listed.state["cart"].append(4)
        fresh = await service.get_session(**key)
        assert fresh is not None
        assert fresh.state == {"cart": [1]}
        assert fresh.events[0].author == "a"

    async def test_a_session_id_is_taken_once(self) -> None:
        service = InMemorySessionService()
        await service.create_session(app_name="app", user_id="u", session_id="s")
        with pytest.raises(AlreadyExistsError, match="Session with id s already exists"):
            await service.create_session(app_name="app", user_id="u", session_id="s")

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), {1: "x"}, object(), b"x", {1, 2}])
    async def test_what_would_not_come_back_as_it_is_is_refused(self, value: Any) -> None:
        service = InMemorySessionService()
        session = await service.create_session(app_name="app", user_id="u", session_id="s")
        with pytest.raises(UnstorableValueError, match=r"state\['deep'\]\['down'\]"):
            await service.append_event(session, Event(author="a", actions=EventActions(state_delta={"fine": 1, "deep": {"down": value}})))
        assert (session.state, session.events) == ({}, [])

    async def test_a_value_that_is_too_deep_or_contains_itself_is_refused(self) -> None:
        deep: list[Any] = []
        for _ in range(150):
            deep = [deep]
        circle: dict[str, Any] = {}
        circle["self"] = circle
        service = InMemorySessionService()
        session = await service.create_session(app_name="app", user_id="u", session_id="s")
        for value in (deep, circle):
            with pytest.raises(UnstorableValueError, match="nested deeper than 100"):
                await service.append_event(session, Event(author="a", actions=EventActions(state_delta={"k": value})))

    async def test_threads_and_loops_lose_nothing(self) -> None:
        """ "Asegura seguridad de hilos para actualizaciones concurrentes"."""
        service = InMemorySessionService()
        await service.create_session(app_name="app", user_id="u", session_id="s")

        def write(thread: int) -> None:
            async def appends() -> None:
                session = await service.get_session(app_name="app", user_id="u", session_id="s")
                assert session is not None
                for number in range(50):
                    delta = {f"{thread}-{number}": number, f"user:{thread}": number}
                    await service.append_event(session, Event(author="a", actions=EventActions(state_delta=delta)))

            asyncio.run(appends())

        await asyncio.gather(*(asyncio.to_thread(write, thread) for thread in range(8)))
        session = await service.get_session(app_name="app", user_id="u", session_id="s")
        assert session is not None
        assert len(session.events) == 400
        assert len(session.state) == 408


class TestContexts:
    """ "Mediante CallbackContext o ToolContext", as written: one function serves as callback and as tool."""

    async def test_one_function_as_callback_and_as_tool(self) -> None:
        def my_callback_or_tool_function(context: CallbackContext) -> None:
            """Counts the user's actions."""
            count = context.state.get("user_action_count", 0)
            context.state["user_action_count"] = count + 1
            context.state["temp:last_operation_status"] = "success"

        agent = LlmAgent(
            name="agent",
            model=ScriptedLlm(replies=[Reply(calls=[("my_callback_or_tool_function", {})]), "done"]),
            tools=[my_callback_or_tool_function],
            before_agent_callback=my_callback_or_tool_function,
            after_agent_callback=[my_callback_or_tool_function, my_callback_or_tool_function],
        )
        runner = runner_for(agent)
        await run(runner)
        assert (await stored(runner)).state == {"user_action_count": 4}


def test_state_tells_what_changed() -> None:
    value, delta = {"a": 1}, {}
    state = State(value, delta)
    assert not state.has_delta()
    state["b"] = 2
    state.update({"c": 3})
    assert state.setdefault("d", 4) == 4
    assert (state.get("b"), state.get("nothing"), "c" in state, state["a"]) == (2, None, True, 1)
    assert delta == {"b": 2, "c": 3, "d": 4}
    assert state.to_dict() == value == {"a": 1, "b": 2, "c": 3, "d": 4}
