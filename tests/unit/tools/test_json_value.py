"""Tool results are stored as JSON by every session service, as by google-adk's database service."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from runtime.agents import LlmAgent, ToolContext
from runtime.errors import UnstorableValueError
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService
from tests.seeds.running import results, run, runner_for, stored


class Flight(BaseModel):
    number: str
    gate: str | None = None


@dataclasses.dataclass
class Seat:
    row: int


RETURNED: list[tuple[Any, Any]] = [
    ([Flight(number="LH1")], [{"number": "LH1"}]),
    ({"best": Flight(number="LH1"), "on": date(2025, 1, 2)}, {"best": {"number": "LH1"}, "on": "2025-01-02"}),
    ((1, {"row": (2,)}), [1, {"row": [2]}]),
    (Seat(row=3), {"row": 3}),
    ({"gate": None}, {"gate": None}),
]


@pytest.mark.parametrize("service", [InMemorySessionService, lambda: DatabaseSessionService("sqlite://")], ids=["memory", "sqlite"])
@pytest.mark.parametrize(("returned", "kept"), RETURNED, ids=["list of models", "in a dict", "tuples", "dataclass", "none"])
async def test_models_dates_and_tuples_become_json(service: Any, returned: Any, kept: Any) -> None:
    async with service() as sessions:
        runner = runner_for(_caller(lambda: returned), sessions)
        await run(runner)
        response = kept if isinstance(returned, dict) else {"result": kept}
        assert results(list((await stored(runner)).events)) == [("tell", response)]


@pytest.mark.parametrize("service", [InMemorySessionService, lambda: DatabaseSessionService("sqlite://")], ids=["memory", "sqlite"])
async def test_values_that_are_not_json_are_rejected_with_their_place(service: Any) -> None:
    sessions: BaseSessionService
    async with service() as sessions:
        within_itself: list[Any] = []
        within_itself.append(within_itself)
        refused = (
            (object(), "not a JSON value"),
            (float("nan"), "not a JSON number"),
            (b"\xff", "artifact"),
            (within_itself, "nested deeper"),
        )
        for value, why in refused:
            runner = runner_for(_caller(partial(_deep, value)), sessions)
            with pytest.raises(UnstorableValueError, match=rf"function_response\.response\['deep'\]\[0\].*{why}"):
                await run(runner)


async def test_a_confirmation_payload_becomes_json() -> None:
    def ask(tool_context: ToolContext) -> str:
        """Ask."""
        tool_context.request_confirmation(hint="?", payload=Flight(number="LH1"))
        return "asked"

    runner = runner_for(LlmAgent(name="a", model=ScriptedLlm(replies=[Reply(calls=[("ask", {})]), "x"]), tools=[ask]))
    events = await run(runner)
    asked = [confirmation for event in events for confirmation in event.actions.requested_tool_confirmations.values()]
    assert [confirmation.payload for confirmation in asked] == [{"number": "LH1"}]


def _deep(value: Any) -> dict[str, Any]:
    return {"deep": [value]}


def _caller(returns: Callable[[], Any]) -> LlmAgent:
    def tell() -> Any:
        """Tell."""
        return returns()

    return LlmAgent(name="a", model=ScriptedLlm(replies=[Reply(calls=[("tell", {})]), "x"]), tools=[tell])
