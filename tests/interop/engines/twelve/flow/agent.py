"""A workflow graph of google-adk 2.x: functions, a route, parallel nodes that are joined, an agent."""

from __future__ import annotations

from fake_llm import told
from google.adk import Event
from google.adk.agents import LlmAgent
from google.adk.workflow import START, JoinNode, Workflow


def classify(node_input: str) -> Event:
    """Choose a route."""
    return Event(output=node_input, route="long" if len(node_input) > 3 else "short")


def count(node_input: str) -> int:
    """Count the letters."""
    return len(node_input)


def reverse(node_input: str) -> str:
    """Turn the text round."""
    return node_input[::-1]


def refuse(node_input: str) -> str:
    """Say that it is too short."""
    return f"{node_input} is too short"


join = JoinNode(name="join")
judge = LlmAgent(name="judge", model=told("Well done."), mode="single_turn")

root_agent = Workflow(
    name="flow",
    edges=[
        (START, classify, {"long": (count, reverse), "short": refuse}),
        (count, join),
        (reverse, join),
        (join, judge),
    ],
)
