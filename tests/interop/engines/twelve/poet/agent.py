"""A streamed answer, a call, and another streamed answer."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent


def rhyme(word: str) -> dict:
    """Find a rhyme."""
    return {"rhyme": "moon"}


root_agent = LlmAgent(
    name="poet",
    model=told([("rhyme", {"word": "June"})], ["In ", "June ", "the moon"], ["shines ", "bright."]),
    tools=[rhyme],
    output_key="poem",
)
