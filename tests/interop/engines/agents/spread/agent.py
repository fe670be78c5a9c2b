"""Agents that run in parallel."""

from __future__ import annotations

from google.adk.agents import ParallelAgent
from line.agent import Counter

root_agent = ParallelAgent(name="spread", sub_agents=[Counter(name="left"), Counter(name="right")])
