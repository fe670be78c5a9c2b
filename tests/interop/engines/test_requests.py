"""What the Request tab reports is what the model received: over the twelve agents, on each engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from inspector_app.detail.prompt_events import BY_OTHERS, EQUAL, prompt_events
from runtime.storage.recordings.recording import Recording
from tests.interop.engines.conftest import EMBEDDED, Start
from tests.interop.engines.test_twelve_agents import CONVERSATIONS, IS_SOAK, runs_on, twelve
from tests.interop.engines.twelve_alone import content_of

__all__ = ["twelve"]


@pytest.mark.parametrize("engine", ["2.13", "1.39", EMBEDDED] if IS_SOAK else ["2.13"])
async def test_what_is_in_each_request_is_what_the_model_received(
    engine: str, twelve: Path, tmp_path: Path, start_engine: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong: list[Any] = []
    received = tmp_path / "received.jsonl"
    monkeypatch.setenv("FAKE_LLM_RECEIVED", str(received))
    checked = 0
    for name, messages in CONVERSATIONS.items():
        if not runs_on(name, engine) or (name == "told" and engine == EMBEDDED):  # it loads no YAML
            continue
        file = tmp_path / f"{name}.rec.db"
        started = await start_engine(engine, twelve / name, recording=file)
        key = await started.engine.new_session("u")
        said: list[dict[str, Any]] = []
        for message in messages:
            async for event in started.engine.run(key, types.Content.model_validate(content_of(message, said))):
                said.append(event.model_dump(mode="json", exclude_none=True))
        found = await started.engine.session(key)
        await started.engine.close()
        assert found is not None
        recording = Recording(file)
        for index, event in enumerate(found[1]):
            call = recording.call_of_event(event.id)
            if call is None:
                continue
            request = recording.request(call.number)
            told = [json.loads(line) for line in received.read_text("utf-8").splitlines()]
            asked = {"instruction": request.config.get("system_instruction"), "contents": list(request.contents)}
            assert asked in told, (name, index)
            held = set(leaves(request.contents)), json.dumps(request.contents)
            for entry in prompt_events(found[1], index, request):
                checked += 1
                is_whole = not entry.reason and not entry.partly
                if is_whole is not holds(entry.event, *held) or entry.reason in (BY_OTHERS, EQUAL) or entry.partly == BY_OTHERS:
                    wrong.append((name, index, entry.index, entry.event.author, entry.reason, leaves(entry.event.content)))
        recording.close()
    assert wrong == []
    assert checked > 50


def holds(event: Any, texts: set[str], whole: str) -> bool:
    """Return whether the strings of an event's content are in a request, as they are or quoted for another agent."""
    parts = [part for part in (event.content.parts if event.content else None) or () if not part.thought]
    own = [text for part in parts for text in leaves(part.model_dump(mode="json", exclude_none=True, exclude={"id"}))]
    return any(all(text in texts or json.dumps(text)[1:-1] in whole for text in part) for part in [own] if part)


def leaves(value: Any) -> list[str]:
    """Return the strings in a JSON value, ids apart."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, dict):
        return [text for name, item in value.items() if name != "id" for text in leaves(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in leaves(item)]
    return [value] if isinstance(value, str) else []
