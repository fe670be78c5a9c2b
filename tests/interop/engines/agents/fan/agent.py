"""A workflow graph of google-adk 2.x whose nodes run in parallel."""

from __future__ import annotations

from typing import Any

from google.adk.events import Event
from google.adk.workflow import START, JoinNode, Workflow
from google.genai import types


def node(name: str) -> Any:
    async def run(node_input: str) -> Any:
        for number in range(3):
            print(f"{name} {number}")
            yield Event(author=name, content=types.Content(role="model", parts=[types.Part(text=f"{name} {number}")]))

    run.__name__ = name
    return run


root_agent = Workflow(name="fan", edges=[(START, (node("left"), node("right")), JoinNode(name="join"))])
