"""What fills requests and loses caches, in real runs that were recorded, and runs that look alike and are well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from inspector_app.analysis.doctor import examine
from inspector_app.analysis.finding import Finding
from runtime.storage.reading.reader import StoredDatabase
from tests.unit.inspector_app.analysis.recorded_runs import findings_of, reply
from tests.unit.inspector_app.analysis.v1_file import said, write_v1

THREE = ("one", "two", "three")
CACHED = [reply(5_000), reply(5_100, 4_000), reply(5_200, 0)]
KEPT = [reply(5_000), reply(5_100, 4_000), reply(5_200, 4_000)]


def look(place: str) -> str:
    """Look at a place."""
    return place


def smell(place: str) -> str:
    """Smell a place."""
    return place


def read(size: int) -> str:
    """Read a file."""
    return "lorem ips " * (size // 10)


def only(found: list[Finding]) -> tuple[str, str]:
    assert [finding.level for finding in found] in (["warning"], ["note"]), found
    return found[0].kind, found[0].what


async def test_a_value_in_the_instruction_loses_the_cache(tmp_path: Path) -> None:
    deltas = ({"currency": "EUR", "n": 1}, {"n": 2}, {"currency": "USD"})
    found = await findings_of(tmp_path, CACHED, THREE, deltas=deltas, instruction="Prices are in {currency}. Be brief.")
    assert only(found) == (
        "cache lost",
        '4,000 cached tokens were not used again: the value of {currency} in the instruction was "EUR" and is "USD", written by event 5.',
    )
    assert found[0].why.endswith("The loss cost $0.0011.")  # 4,000 tokens at $0.30, or at $0.03 for a million


CHANGES: dict[str, tuple[Any, str]] = {
    "model": (lambda agent: setattr(agent.model, "model", "gemini-2.0-flash"), "the model was gemini-2.5-flash and is gemini-2.0-flash"),
    "new tool": (lambda agent: agent.tools.append(smell), "there is a new tool: smell"),
    "gone": (lambda agent: agent.tools.pop(), "a tool was removed: read"),
    "order": (lambda agent: agent.tools.reverse(), "the tools are in another order"),
    "instruction": (lambda agent: setattr(agent, "instruction", "Be brief.\n\nBe kind."), "paragraph 2 of the instruction differs"),
    "setting": (
        lambda agent: setattr(agent, "generate_content_config", types.GenerateContentConfig(top_k=3)),
        "the setting top_k differs",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_the_part_that_changed_is_named(name: str, tmp_path: Path) -> None:
    change, expected = CHANGES[name]
    found = await findings_of(
        tmp_path,
        CACHED,
        THREE,
        lambda agent, turn: change(agent) if turn == 2 else None,
        instruction="Be brief.\n\nBe quick.",
        tools=[look, read],
    )
    assert only(found) == ("cache lost", f"4,000 cached tokens were not used again: {expected}.")


@pytest.mark.parametrize("replies", [CACHED, KEPT])
async def test_a_request_that_only_continues_lost_nothing(replies: list[Any], tmp_path: Path) -> None:
    assert await findings_of(tmp_path, replies, THREE, tools=[look], instruction="Be brief.") == []


async def test_a_change_after_the_cached_part_lost_nothing(tmp_path: Path) -> None:
    deltas = ({"n": 1}, {"n": 2}, {"n": 3})
    assert await findings_of(tmp_path, KEPT, THREE, deltas=deltas, instruction="Be brief. {n}") == []


async def test_what_was_never_cached_is_a_note(tmp_path: Path) -> None:
    deltas = ({"n": 1}, {"n": 2}, {})
    replies = [reply(5_000), reply(5_100), reply(5_200, 5_000)]
    found = await findings_of(tmp_path, replies, THREE, deltas=deltas, instruction="Turn {n}. Be brief.")
    what = 'Up to 5,000 tokens could not be cached: the value of {n} in the instruction was "1" and is "2", written by event 3.'
    assert only(found) == ("cache lost", what)
    assert "cost up to $0.0014" in found[0].why


async def test_a_provider_without_a_cache_lost_nothing(tmp_path: Path) -> None:
    deltas = ({"n": 1}, {"n": 2}, {"n": 3})
    assert await findings_of(tmp_path, [reply(5_000)] * 3, THREE, deltas=deltas, instruction="Turn {n}.") == []


def reading(size: int, *prompts: int) -> list[Any]:
    return [reply(100, calls=[("read", {"size": size})]), *(reply(prompt) for prompt in prompts)]


async def test_a_large_result_fills_the_context(tmp_path: Path) -> None:
    found = await findings_of(tmp_path, reading(40_000, 10_200, 10_300, 10_400), THREE, tools=[read])
    assert only(found) == (
        "fills the context",
        "The result of read has 40,014 characters, more than half of the conversation in each of the 3 later requests."
        " They are about 10,090 tokens of each request, up to 10,400 in all.",
    )
    assert found[0].why.endswith("This cost about $0.0091.")


@pytest.mark.parametrize(
    ("size", "prompts"),
    [(40_000, [10_200]), (4_000, [1_200, 1_300, 1_400]), (40_000, [10_200, 10_300, 30_000]), (40_000, [1_000, 1_100, 12_000])],
    ids=["sent once", "small", "not in every request", "few of the tokens"],
)
async def test_a_result_that_does_not_fill_it_is_well(size: int, prompts: list[int], tmp_path: Path) -> None:
    found = await findings_of(tmp_path, reading(size, *prompts), THREE[: len(prompts)], tools=[read])
    assert found == []


@pytest.mark.parametrize(
    ("files", "is_found"), [((900, 900, 900), True), ((900, 900, 0), False), ((400, 400, 400), False), ((900,), False)]
)
def test_files_fill_the_context(files: tuple[int, ...], is_found: bool, tmp_path: Path) -> None:
    data = {"inline_data": {"mime_type": "image/png", "data": "aGk="}}
    events: list[dict[str, Any]] = [{"author": "user", "content": {"role": "user", "parts": [data]}}]
    for number, tokens in enumerate(files):
        details = [{"modality": "TEXT", "token_count": 1_000 - tokens}, {"modality": "IMAGE", "token_count": tokens}]
        usage = {"prompt_token_count": 1_000, "candidates_token_count": 9, "prompt_tokens_details": details}
        events += [said(f"answer {number}", usage_metadata=usage, model_version="gemini-2.5-flash"), said("more", "user")]
    file = write_v1(tmp_path / "s.db", events[:-1])
    with StoredDatabase.open(str(file)) as database:
        found = list(examine(database, str(file)))
    expected = ("e0", "Files are at least 900 tokens, more than half, of each of the 3 later requests.")
    assert [(finding.event_id, finding.what) for finding in found] == ([expected] if is_found else [])


async def test_a_request_near_the_window_is_found_once(tmp_path: Path) -> None:
    found = await findings_of(tmp_path, [reply(100), reply(900_000), reply(950_000)], THREE)
    assert only(found) == ("context nearly full", "The request has 900,000 tokens, 86% of the 1,048,576 of gemini-2.5-flash.")


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "unknown-model"])
async def test_a_request_far_from_the_window_is_well(model: str, tmp_path: Path) -> None:
    prompt = 800_000 if model == "gemini-2.5-flash" else 5_000_000
    assert await findings_of(tmp_path, [reply(prompt)], model=model) == []
