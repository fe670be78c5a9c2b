"""Examples as text for a system instruction."""

from __future__ import annotations

from google.genai import types

from runtime.examples.base_example_provider import BaseExampleProvider
from runtime.examples.example import Example


def build_example_si(examples: list[Example] | BaseExampleProvider, query: str, model: str | None) -> str:
    """Return an instruction with examples.

    Args:
        examples: the examples, or their source.
        query: the user's message, for the source.
        model: the model's name.

    Raises:
        ValueError: `examples` is neither.
    """
    if isinstance(examples, BaseExampleProvider):
        examples = examples.get_examples(query)
    if not isinstance(examples, list):
        raise ValueError(f"Examples are a list of Example or a BaseExampleProvider, not a {type(examples).__name__}.")
    return convert_examples_to_text(examples, model)


def convert_examples_to_text(examples: list[Example], model: str | None) -> str:
    """Return examples as text.

    Args:
        examples: the examples.
        model: the model's name; Gemini 2 and unknown models get function calls in code blocks without a language.
    """
    plain = model is None or "gemini-2" in model
    texts = [f"EXAMPLE {number}:\nBegin example\n{_example(one, plain)}End example\n\n" for number, one in enumerate(examples, 1)]
    intro = (
        "<EXAMPLES>\nBegin few-shot\nThese examples show messages of users, and how a model answers them with the tools that it has.\n\n"
    )
    return f"{intro}{''.join(texts)}End few-shot\n<EXAMPLES>"


def _example(example: Example, plain: bool) -> str:
    text = "[user]\n"
    if example.input.parts:
        text += "\n".join(part.text for part in example.input.parts if part.text) + "\n"
    role = None
    for content in example.output:
        present = "[model]\n" if content.role == "model" else "[user]\n"
        text += "" if present == role else present
        role = present
        text += "".join(_part(part, plain) for part in content.parts or ())
    return text


def _part(part: types.Part, plain: bool) -> str:
    if call := part.function_call:
        args = ", ".join(f"{name}={repr(value) if isinstance(value, str) else value}" for name, value in (call.args or {}).items())
        return f"```{'' if plain else 'tool_code'}\n{call.name}({args})\n```\n"
    if response := part.function_response:
        return f"```{'' if plain else 'tool_outputs'}\n{response.__dict__}\n```\n"
    return f"{part.text}\n" if part.text else ""
