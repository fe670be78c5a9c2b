"""Transfers: to a specialist, from there to a peer, and back in the next message."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent


def balance() -> dict:
    """Return the account's balance."""
    return {"cents": 1200}


billing = LlmAgent(
    name="billing",
    model=told([("balance", {})], [("transfer_to_agent", {"agent_name": "refunds"})]),
    description="Knows about bills.",
    tools=[balance],
)
refunds = LlmAgent(
    name="refunds",
    model=told("Your refund is on its way.", [("transfer_to_agent", {"agent_name": "desk"})], "Anything else?"),
    description="Pays money back.",
)

root_agent = LlmAgent(
    name="desk",
    model=told([("transfer_to_agent", {"agent_name": "billing"})], "Goodbye."),
    description="Receives people.",
    sub_agents=[billing, refunds],
)
