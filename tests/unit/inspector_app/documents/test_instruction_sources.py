"""The sources of a system instruction's stretches: ours, google-adk's, and texts that nothing explains."""

from __future__ import annotations

import pytest

from inspector_app.detail.prompt_parts import prompt_parts, size_text
from inspector_app.documents.instruction_sources import OTHER, instruction_sources
from inspector_app.presentation.tokens import Tokens
from runtime.storage.recordings.recorded_call import RecordedModelRequest

IDENTITY = 'You are an agent. Your internal name is "guide".'
GOOGLE_TRANSFER = "\nYou have a list of other agents to transfer to:\n\n\nAgent name: clerk\n\nIf you are the best"
GOOGLE_SCHEMA = "IMPORTANT: You have access to other tools, but you must provide your final response using the set_model_response tool"


@pytest.mark.parametrize(
    ("text", "texts", "expected"),
    [
        ("", {}, []),
        ("Be brief.", {}, [OTHER]),
        ("Be brief.", {"instruction": "Be brief."}, ["instruction"]),
        (f"Be brief.\n\n{IDENTITY}", {"instruction": "Be brief."}, ["instruction", "name and description"]),
        (f"{IDENTITY}\n\nHi Ana.\n\nBye.", {"instruction": "Hi {user:name}.\n\nBye."}, ["name and description", "instruction"]),
        ("Ana is here.\n\nMore", {"instruction": "{user:name} is here."}, ["instruction", OTHER]),
        (f"Made up.\n\n{IDENTITY}", {"instruction": {"function": "make"}}, ["instruction (a function)", "name and description"]),
        (
            "Rules.\n\nBe brief.",
            {"global_instruction": "Rules.", "instruction": "Be {how}."},
            ["global instruction", "instruction"],
        ),
        ("Fixed.", {"static_instruction": {"role": "user", "parts": [{"text": "Fixed."}]}}, ["static instruction"]),
        (f"{IDENTITY}\n\n{GOOGLE_TRANSFER}", {}, ["name and description", "transfer"]),
        (f"Be.\n\n{GOOGLE_SCHEMA}", {"instruction": "Be."}, ["instruction", "output schema"]),
        ("x", {"instruction": 7, "static_instruction": {"parts": [None, 3]}}, [OTHER]),
    ],
)
def test_each_stretch_has_its_source(text: str, texts: dict[str, object], expected: list[str]) -> None:
    found = instruction_sources(text, texts)
    assert [source for source, _ in found] == expected
    assert "".join("".join(stretch for _, stretch in found).split()) == "".join(text.split())


def request(*contents: object, **config: object) -> RecordedModelRequest:
    return RecordedModelRequest("m", config, contents, None)


def user(text: str) -> dict[str, object]:
    return {"role": "user", "parts": [{"text": text}]}


def test_parts_share_the_tokens_that_the_model_reported() -> None:
    picture = {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AAAA"}}]}
    asked = request(user("x" * 100), {"role": "model", "parts": [{"text": "y" * 50}]}, picture, system_instruction="z" * 50)
    parts = prompt_parts(asked, 616)
    assert [(part.name, part.characters, part.tokens) for part in parts] == [
        ("system instruction", 50, 25),
        ("user", 100, 50),
        ("model", 50, 25),
        ("files", 1_032, 516),
    ]
    assert sum(part.share for part in parts) == pytest.approx(1)
    assert size_text(parts, Tokens(616, 100, 3), 1_000) == "616 of 1,000 tokens (61.6%) · 100 cached · parts by length"
    assert "characters" in size_text(prompt_parts(asked, None), None, None)
