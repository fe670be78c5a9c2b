"""Seed: runtime-event-loop, "Actualizaciones de Estado y Momento de Confirmación"."""
# ruff: noqa: T201 - the example is as the seed has it

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator

import pytest

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event, EventActions
from tests.seeds.running import run, runner_for, said, scripted, stored


async def test_a_direct_write_followed_by_an_event_with_the_delta(capsys: pytest.CaptureFixture[str]) -> None:
    """As written."""

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        # 1. Modificar estado
        ctx.session.state["status"] = "processing"
        event1 = Event(author=agent.name, actions=EventActions(state_delta={"status": "processing"}))

        # 2. Ceder evento con el delta
        yield event1

        # 3. Reanudar ejecución
        current_status = ctx.session.state["status"]
        print(f"Estado después de reanudar: {current_status}")

    runner = runner_for(scripted(body))
    await run(runner)
    assert (await stored(runner)).state == {"status": "processing"}
    assert capsys.readouterr().out == "Estado después de reanudar: processing\n"


@pytest.mark.rule("S3")
async def test_a_direct_write_without_a_delta_is_visible_but_not_stored_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        ctx.session.state["status"] = "lost"
        yield said(agent, "x")
        assert ctx.session.state["status"] == "lost"

    runner = runner_for(scripted(body))
    with caplog.at_level(logging.WARNING, "runtime"):
        await run(runner)
    assert (await stored(runner)).state == {}
    assert "not stored: status" in caplog.text
