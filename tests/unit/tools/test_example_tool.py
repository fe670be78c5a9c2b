"""Examples in instructions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from runtime.examples import BaseExampleProvider, Example
from runtime.examples.example_util import build_example_si, convert_examples_to_text
from runtime.models.llm_request import LlmRequest
from runtime.tools import ExampleTool
from runtime.tools.tool_configs import ToolArgsConfig
from tests.unit.tools.tool_contexts import tool_context

EXAMPLES = [
    {
        "input": {"role": "user", "parts": [{"text": "Roll a die."}, {"text": "Please."}]},
        "output": [
            {"role": "model", "parts": [{"text": "I roll."}, {"function_call": {"name": "roll", "args": {"sides": 6, "by": "me"}}}]},
            {"role": "user", "parts": [{"function_response": {"name": "roll", "response": {"result": 4}}}]},
            {"role": "model", "parts": [{"text": "It is 4."}]},
            {"role": "model", "parts": [{"text": "Again?"}]},
        ],
    },
    {"input": {"role": "user", "parts": [{"text": "Stop."}]}, "output": []},
]


class Known(BaseExampleProvider):
    def get_examples(self, query: str) -> list[Example]:
        return [Example(input=types.Content(parts=[types.Part(text=f"like {query}")]), output=[])]


def context_of(text: str | None) -> Any:
    context = tool_context()
    parts = [types.Part(text=text)] if text else []
    context._invocation_context.user_content = types.Content(role="user", parts=parts)
    return context


def instruction_after(tool: ExampleTool, text: str | None) -> str:
    request = LlmRequest(model="gemini-2.5-flash")
    asyncio.run(tool.process_llm_request(tool_context=context_of(text), llm_request=request))
    return str(request.config.system_instruction or "")


def test_examples_are_part_of_the_instruction() -> None:
    text = instruction_after(ExampleTool(EXAMPLES), "go")  # type: ignore[arg-type]
    assert "EXAMPLE 1:\nBegin example\n[user]\nRoll a die.\nPlease.\n[model]\nI roll.\n```\nroll(sides=6, by='me')\n```\n[user]\n" in text
    assert "[model]\nIt is 4.\nAgain?\nEnd example\n\nEXAMPLE 2:" in text


def test_a_provider_gets_the_users_message() -> None:
    assert "like my order" in instruction_after(ExampleTool(Known()), "my order")
    assert instruction_after(ExampleTool(Known()), None) == ""


def test_other_models_get_code_blocks_with_a_language() -> None:
    examples = ExampleTool(EXAMPLES).examples  # type: ignore[arg-type]
    assert isinstance(examples, list)
    assert "```tool_code\nroll(" in convert_examples_to_text(examples, "gemini-3-pro")
    assert "```\nroll(" in convert_examples_to_text(examples, None)


def test_what_is_no_example_is_refused() -> None:
    with pytest.raises(ValueError, match="not a str"):
        build_example_si("x", "q", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is not a BaseExampleProvider"):
        ExampleTool.from_config(ToolArgsConfig.model_validate({"examples": "google.adk.tools.google_search"}), "x")


def test_examples_come_from_a_yaml_file() -> None:
    tool = ExampleTool.from_config(ToolArgsConfig.model_validate({"examples": EXAMPLES}), "x")
    assert isinstance(tool.examples, list) and len(tool.examples) == 2
