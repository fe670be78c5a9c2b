"""Seed: session-state, "Accediendo al Estado de Sesión en las Instrucciones del Agente"."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.agents.readonly_context import ReadonlyContext
from runtime.models import LlmRequest
from runtime.utils import instructions_utils
from runtime.utils.instructions_utils import MissingStateKeyError
from tests.seeds.running import run, runner_for


async def _told(agent: LlmAgent, asked: list[LlmRequest], state: dict[str, Any]) -> str:
    """Return the first paragraph of the system instruction."""
    runner = runner_for(agent)
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s", state=state)
    await run(runner)
    return str(asked[-1].config.system_instruction).split("\n\n")[0]


async def test_a_placeholder_is_replaced(asked: list[LlmRequest]) -> None:
    """ "Usando Plantillas {key}", as written."""
    story_generator = LlmAgent(
        name="StoryGenerator",
        model="gemini-2.0-flash",
        instruction="""Write a short story about a cat, focusing on the theme: {topic}.""",
    )
    told = await _told(story_generator, asked, {"topic": "friendship"})
    assert told == "Write a short story about a cat, focusing on the theme: friendship."


async def _instruction(instruction: Any, state: dict[str, Any], asked: list[LlmRequest]) -> str:
    return await _told(LlmAgent(name="StoryGenerator", model="gemini-2.0-flash", instruction=instruction), asked, state)


@pytest.mark.rule("S10")
@pytest.mark.parametrize(
    ("template", "state", "filled"),
    [
        ("{a} {user:b} {app:c}", {"a": 1, "user:b": [2], "app:c": None}, "1 [2] "),
        ("[{missing?}]", {}, "[]"),
        ("[{here?}]", {"here": "x"}, "[x]"),
        ("{{a}} {a} {{b}}", {"a": 1}, "1 1 {{b}}"),
        ('{"json": {"a": 1}} {a}', {"a": 1}, '{"json": {"a": 1}} 1'),
        ("{} { a } {a-b} {1}", {"a": 1}, "{} 1 {a-b} {1}"),
        ("{a}", {"a": "{b}", "b": 1}, "{b}"),
    ],
)
async def test_placeholders_and_other_braces(template: str, state: dict[str, Any], filled: str, asked: list[LlmRequest]) -> None:
    assert await _instruction(template, state, asked) == filled


async def test_the_missing_key_error_names_key_agent_and_instruction(asked: list[LlmRequest]) -> None:
    with pytest.raises(MissingStateKeyError) as caught:
        await _instruction("Focus on {topic}.", {}, asked)
    for part in ("topic", "StoryGenerator", "Focus on {topic}."):
        assert part in str(caught.value)


async def test_a_providers_text_is_kept_verbatim(asked: list[LlmRequest]) -> None:
    """ "Evitando la Inyección de Estado con InstructionProvider", as written."""

    # Esto es un InstructionProvider
    def my_instruction_provider(context: ReadonlyContext) -> str:
        return "This is an instruction with {{literal_braces}} that will not be replaced."

    agent = LlmAgent(
        model="gemini-2.0-flash",
        name="template_helper_agent",
        instruction=my_instruction_provider,
    )
    told = await _told(agent, asked, {})
    assert told == "This is an instruction with {{literal_braces}} that will not be replaced."


@pytest.mark.rule("S10")
async def test_an_async_provider_can_inject_state(asked: list[LlmRequest]) -> None:
    """As written, with `inject_session_state`."""

    async def my_dynamic_instruction_provider(context: ReadonlyContext) -> str:
        template = "This is a {adjective} instruction with {{literal_braces}}."
        return await instructions_utils.inject_session_state(template, context)

    agent = LlmAgent(
        model="gemini-2.0-flash",
        name="dynamic_template_helper_agent",
        instruction=my_dynamic_instruction_provider,
    )
    told = await _told(agent, asked, {"adjective": "short"})
    assert told == "This is a short instruction with {{literal_braces}}."


async def test_a_provider_cannot_change_the_state(asked: list[LlmRequest]) -> None:
    def provider(context: ReadonlyContext) -> str:
        context.state["k"] = 1  # type: ignore[index]
        return ""

    with pytest.raises(TypeError):
        await _instruction(provider, {}, asked)
