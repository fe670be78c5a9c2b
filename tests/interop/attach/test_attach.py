"""Watching, holding and stepping an app that runs on its own."""

from __future__ import annotations

import asyncio
import json

from runtime.debugger.calls import ModelCall, ToolCall
from tests.interop.attach.conftest import WEATHER, WEATHER_TEXTS, StartApp, Watching


async def test_a_window_sees_holds_and_steps_an_app(start_app: StartApp, version: str) -> None:
    app = start_app(version)
    app.send(WEATHER, state={"given": 1})
    assert (await app.answered())["texts"] == WEATHER_TEXTS  # without a window
    watching = await Watching.begin(app)
    watching.debugger.pause()
    app.send(WEATHER)
    assert (await watching.held("agent start")).agent == "steps"
    seen = watching.sessions["s1"]
    assert [event.author for event in seen.events if event.content] == ["user", "steps", "steps", "steps"]
    assert seen.state["given"] == 1 and seen.state["city"] == "Bern"
    watching.debugger.step_into()
    held = await watching.held("before model")
    assert isinstance(held.call, ModelCall)
    assert watching.texts() == []
    watching.debugger.step()
    held = await watching.held("event")
    assert watching.texts() == ["call weather"]
    watching.debugger.step_into()
    held = await watching.held("before tool")
    assert isinstance(held.call, ToolCall)
    held.call.edit_args({"city": "Rom"})
    watching.debugger.step()
    await watching.held("event")
    assert watching.texts()[1:] == ["result {'sky': 'blue over Rom'}"]
    watching.debugger.resume()
    answer = await app.answered()
    assert answer["texts"] == ["call weather", "result {'sky': 'blue over Rom'}", "It is blue."]
    await watching.wait_for(lambda: watching.ended)
    assert watching.ended == [("s1", None, True)]
    assert watching.partials == ["It is ", "blue."]
    assert [temp for _, _, temp in watching.committed if temp] == [{"temp:key": "not stored"}]
    assert len(watching.requests) == 2
    assert watching.root["name"] == "steps" and "weather" in watching.root["tools"]
    await watching.detach()
    app.send(WEATHER)
    assert (await app.answered())["texts"] == WEATHER_TEXTS
    assert not watching.problems


async def test_answers_given_in_place_of_the_model_and_the_tool_reach_the_app(start_app: StartApp, version: str) -> None:
    app = start_app(version)
    watching = await Watching.begin(app)
    watching.debugger.pause()
    app.send(json.dumps([["call", "weather", {"city": "Bern"}], ["call", "broken", {"number": 3}], ["done"]]))
    await watching.held("agent start")
    for name in ("weather", "broken"):
        watching.debugger.step()
        await watching.held("event")
        watching.debugger.step_into()
        held = await watching.held("before tool")
        assert isinstance(held.call, ToolCall) and held.call.name == name
        held.call.give_result({"answer": name})
        watching.debugger.step()
        await watching.held("event")
    watching.debugger.step_into()
    held = await watching.held("before model")
    assert isinstance(held.call, ModelCall)
    held.call.answer("Instead.")
    watching.debugger.resume()
    texts = (await app.answered())["texts"]
    assert texts[-1] == "Instead."
    await watching.wait_for(lambda: watching.ended)
    assert {"result {'answer': 'weather'}", "result {'answer': 'broken'}"} <= set(texts)
    edited = [
        event.custom_metadata["inspector_edited"]
        for _, event, _ in watching.committed
        if "inspector_edited" in (event.custom_metadata or {})
    ]
    assert len(edited) == 3
    await watching.detach()


async def test_detaching_in_mid_step_lets_the_app_continue(start_app: StartApp, version: str) -> None:
    app = start_app(version)
    watching = await Watching.begin(app)
    watching.debugger.pause()
    app.send(WEATHER)
    await watching.held("agent start")
    watching.debugger.step_into()
    await watching.held("before model")
    await watching.detach()
    assert (await app.answered())["texts"] == WEATHER_TEXTS
    again = await Watching.begin(app)
    again.debugger.pause()
    app.send(WEATHER)
    await again.held("agent start")
    await again.detach()
    assert (await app.answered())["texts"] == WEATHER_TEXTS


async def test_runs_of_several_sessions_and_of_a_thread_are_held_one_after_another(start_app: StartApp, version: str) -> None:
    app = start_app(version)
    watching = await Watching.begin(app)
    watching.debugger.pause()
    sessions = ["s1", "s2", "s3"]
    for session in sessions:
        app.send(WEATHER, session, sync=session == "s3")
    first = await watching.held("agent start")
    assert first.agent == "steps"
    await watching.wait_for(lambda: sorted(watching.started) == sessions)
    held = watching.attached.key_of(watching.debugger.held_call)
    assert held is not None
    for place in ("before model", "event", "before tool", "event"):  # steps stay in the run that was held
        if place == "event":
            watching.debugger.step()
        else:
            watching.debugger.step_into()
        await watching.held(place)
        assert watching.attached.key_of(watching.debugger.held_call) == held
    watching.debugger.resume()
    answers = [await app.answered() for _ in sessions]
    assert sorted(answer["session"] for answer in answers) == sessions
    assert all(answer["texts"] == WEATHER_TEXTS for answer in answers), answers
    await watching.wait_for(lambda: len(watching.ended) == len(sessions))
    assert all(watching.texts(session) == WEATHER_TEXTS for session in sessions)
    await watching.detach()


async def test_an_agent_that_runs_as_a_tool_is_held_inside_its_caller(start_app: StartApp, version: str) -> None:
    app = start_app(version)
    watching = await Watching.begin(app)
    inner = json.dumps([["call", "weather", {"city": "Oslo"}], ["inside"]])
    watching.debugger.pause()
    app.send(json.dumps([["call", "helper", {"request": inner}], ["outside"]]))
    await watching.held("agent start")
    watching.debugger.step()
    await watching.held("event")
    watching.debugger.step_into()
    await watching.held("before tool")
    watching.debugger.step_into()
    held = await watching.held("agent start")
    assert held.agent == "helper"
    assert watching.debugger.held_call is not None and watching.debugger.held_call.level == 1
    watching.debugger.step()
    held = await watching.held("event")
    assert held.inner
    watching.debugger.resume()
    assert (await app.answered())["texts"][-1] == "outside"
    assert watching.started == ["s1"]
    await watching.detach()


async def test_a_window_that_attaches_in_mid_run_sees_the_rest(start_app: StartApp) -> None:
    app = start_app()
    first = await Watching.begin(app)
    first.debugger.pause()
    app.send(WEATHER)
    await first.held("agent start")
    first.debugger.step()
    await first.held("event")
    await first.detach()
    answer = asyncio.ensure_future(app.answered())
    second = await Watching.begin(app)
    await answer
    app.send(WEATHER)
    await app.answered()
    await second.wait_for(lambda: second.texts()[-3:] == WEATHER_TEXTS)
    await second.detach()
