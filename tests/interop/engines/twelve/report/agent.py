"""A sequence of a parallel search, a writer and a loop that polishes, passing results on in the state; resumable."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.tools import exit_loop

search = ParallelAgent(
    name="search",
    sub_agents=[
        LlmAgent(name="papers", model=told("Three papers."), output_key="papers"),
        LlmAgent(name="news", model=told("Two articles."), output_key="news"),
    ],
)
writer = LlmAgent(name="writer", model=told("A draft."), instruction="Use {papers} and {news}.", output_key="draft")
polish = LoopAgent(
    name="polish",
    max_iterations=5,
    sub_agents=[
        LlmAgent(name="critic", model=told("Too short.", "Good."), instruction="Judge {draft}.", output_key="verdict"),
        LlmAgent(name="editor", model=told("A longer draft.", [("exit_loop", {})]), tools=[exit_loop], output_key="draft"),
    ],
)

root_agent = SequentialAgent(name="report", sub_agents=[search, writer, polish])

app = App(name="report", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
