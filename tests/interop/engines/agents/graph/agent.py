"""A workflow graph of google-adk 2.x."""

from __future__ import annotations

from google.adk.workflow import START, Workflow


def first(node_input: str) -> str:
    """Take the message."""
    return f"first saw {node_input}"


def second(node_input: str) -> str:
    """Take the first node's output."""
    return f"second saw {node_input}"


root_agent = Workflow(name="graph", edges=[(START, first, second)])
