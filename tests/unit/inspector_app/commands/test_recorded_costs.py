"""The costs of five recorded sessions, computed a second way: from the price table itself and the tokens of each call."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from genai_prices import data_snapshot
from google.genai import types

from inspector_app.cli import main
from runtime.agents import LlmAgent
from runtime.apps import App
from runtime.models.llm_response import LlmResponse
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins.base_plugin import BasePlugin
from runtime.runners import Runner
from runtime.sessions import DatabaseSessionService
from tests.recorder import load_recorder

# session → provider and model in the table, the name that the agent uses, and (input, cached, output) of each turn
SESSIONS = {
    "flash": ("google", "gemini-2.5-flash", "gemini-2.5-flash", [(1_000, 0, 100), (2_100, 1_000, 40), (2_300, 2_000, 7)]),
    "lite": ("google", "gemini-2.5-flash-lite", "models/gemini-2.5-flash-lite", [(50, 0, 5)] * 4),
    "mini": ("openai", "gpt-4o-mini", "openai/gpt-4o-mini", [(900, 256, 300), (1_300, 1_024, 12)]),
    "sonnet": ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5", [(12_345, 10_000, 678)]),
    "nano": ("openai", "gpt-4.1-nano", "gpt-4.1-nano", [(1, 0, 1), (999_999, 0, 1)]),
}


class WithoutModelVersion(BasePlugin):
    """Removes the model's name from answers, as older versions of google-adk store none: the recording alone has it."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: LlmResponse) -> LlmResponse:
        return llm_response.model_copy(update={"model_version": None})


def reply(tokens: tuple[int, int, int]) -> Reply:
    prompt, cached, answer = tokens
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=prompt,
        cached_content_token_count=cached or None,
        candidates_token_count=answer,
        total_token_count=prompt + answer,
    )
    return Reply(text="Yes.", usage=usage)


async def record(folder: Path) -> None:
    service = DatabaseSessionService(f"sqlite:///{folder / 'all.db'}")
    recorder = load_recorder().RecorderPlugin(folder / "all.rec.db")
    for name, (_, _, model, turns) in SESSIONS.items():
        agent = LlmAgent(name="seer", model=ScriptedLlm(model=model, replies=[reply(tokens) for tokens in turns]))
        runner = Runner(app=App(name="app", root_agent=agent, plugins=[recorder, WithoutModelVersion("bare")]), session_service=service)
        await service.create_session(app_name="app", user_id="u", session_id=name)
        for turn in range(len(turns)):
            message = types.Content(role="user", parts=[types.Part(text=f"turn {turn}")])
            async for _ in runner.run_async(user_id="u", session_id=name, new_message=message):
                pass
    await recorder.close()
    await service.close()


def from_the_table(provider: str, model: str, turns: list[tuple[int, int, int]]) -> Decimal:
    """Return a session's costs by the table's prices for a million tokens."""
    (found,) = [each for each in data_snapshot.get_snapshot().providers if each.id == provider]
    (entry,) = [each for each in found.models if each.id == model]
    prices = entry.prices if not isinstance(entry.prices, list) else entry.prices[0].prices
    fresh, read, out = (Decimal(getattr(price, "base", price)) for price in (prices.input_mtok, prices.cache_read_mtok, prices.output_mtok))
    return sum(((given - cached) * fresh + cached * read + answer * out for given, cached, answer in turns), Decimal(0)) / 1_000_000


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("five")
    asyncio.run(record(folder))
    return folder / "all.db"


def groups(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["costs", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_five_recorded_sessions_cost_what_the_table_says(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = groups(capsys, str(database))
    costs = {group["session"]: group["cost_usd"] for group in found["groups"]}
    expected = {name: from_the_table(provider, model, turns) for name, (provider, model, _, turns) in SESSIONS.items()}
    assert costs == {name: pytest.approx(float(cost), rel=1e-12) for name, cost in expected.items()}
    assert found["total"]["cost_usd"] == pytest.approx(float(sum(expected.values())), rel=1e-12)
    assert found["total"]["calls_without_price"] == 0
    for by in ("agent", "model", "invocation", "call"):
        parts = groups(capsys, str(database), "--by", by)["groups"]
        assert sum(part["cost_usd"] for part in parts) == pytest.approx(found["total"]["cost_usd"], rel=1e-9)


def test_the_price_list_is_named_with_a_date(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = groups(capsys, str(database))["prices"]
    assert source.startswith("genai-prices ") and ", newest price of 20" in source
