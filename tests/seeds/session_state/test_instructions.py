"""Seed: session-state, "Accediendo al Estado de Sesión en las Instrucciones del Agente"."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field

from runtime.agents import LlmAgent
from runtime.agents.readonly_context import ReadonlyContext
from runtime.models.scripted_llm import ScriptedLlm
from runtime.utils import instructions_utils
from runtime.utils.instructions_utils import MissingStateKeyError
from tests.seeds.running import run, runner_for


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


async def test_a_key_is_filled_in() -> None:
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
async def test_braces(template: str, state: dict[str, Any], filled: str) -> None:
    assert await _instruction(template, state) == filled


async def test_a_missing_key_names_itself_the_agent_and_the_instruction() -> None:
    with pytest.raises(MissingStateKeyError) as caught:
        await _instruction("Focus on {topic}.", {})
    for part in ("topic", "StoryGenerator", "Focus on {topic}."):
        assert part in str(caught.value)


async def test_a_providers_text_is_kept_verbatim() -> None:
    def my_instruction_provider(context: ReadonlyContext) -> str:
        return "This is an instruction with {{literal_braces}} that will not be replaced."

    told = await _instruction(my_instruction_provider, {})
    assert told == "This is an instruction with {{literal_braces}} that will not be replaced."


async def test_an_async_provider_fills_in_state_itself() -> None:
    async def my_dynamic_instruction_provider(context: ReadonlyContext) -> str:
        template = "This is a {adjective} instruction with {{literal_braces}}."
        return await instructions_utils.inject_session_state(template, context)

    told = await _instruction(my_dynamic_instruction_provider, {"adjective": "short"})
    assert told == "This is a short instruction with {literal_braces}."


async def test_a_provider_cannot_change_the_state() -> None:
    def provider(context: ReadonlyContext) -> str:
        context.state["k"] = 1  # type: ignore[index]
        return ""

    with pytest.raises(TypeError):
        await _instruction(provider, {})
