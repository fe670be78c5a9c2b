"""Runs of an agent that are recorded, with tokens as a provider reports them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.analysis.doctor import examine
from inspector_app.analysis.finding import Finding
from runtime.agents import LlmAgent
from runtime.apps import App
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import DatabaseSessionService
from runtime.storage.reading.reader import StoredDatabase
from tests.recorder import load_recorder


def reply(prompt: int, cached: int = 0, output: int = 10, **more: Any) -> Reply:
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=prompt,
        cached_content_token_count=cached or None,
        candidates_token_count=output,
        total_token_count=prompt + output,
    )
    return Reply(**({} if "calls" in more else {"text": f"Answer with {prompt} tokens."}), **more, usage=usage)


async def findings_of(
    folder: Path,
    replies: Sequence[Reply],
    messages: Sequence[str] = ("hello",),
    change: Callable[[LlmAgent, int], object] = lambda agent, turn: None,
    deltas: Sequence[dict[str, Any]] = ({},),
    model: str = "gemini-2.5-flash",
    **fields: Any,
) -> list[Finding]:
    """Run an agent, and return what is found in its database.

    Args:
        folder: where the database and the recording are stored.
        replies: the model's answers.
        messages: sent one after another.
        change: called before each message.
        deltas: the state that each message sets.
        model: the model's name.
        fields: more fields of the agent.
    """
    file = folder / "run.db"
    service, recorder = DatabaseSessionService(f"sqlite:///{file}"), load_recorder().RecorderPlugin(folder / "run.rec.db")
    agent = LlmAgent(name="seer", model=ScriptedLlm(model=model, replies=[*replies]), **fields)
    runner = Runner(app=App(name="app", root_agent=agent, plugins=[recorder]), session_service=service)
    await service.create_session(app_name="app", user_id="u", session_id="s")
    for turn, message in enumerate(messages):
        change(agent, turn)
        content = types.Content(role="user", parts=[types.Part(text=message)])
        delta = deltas[turn] if turn < len(deltas) else {}
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=content, state_delta=delta or None):
            pass
    await runner.close()
    with StoredDatabase.open(str(file)) as database:
        return list(examine(database, str(file)))
