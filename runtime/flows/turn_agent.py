"""Protocols of the agents that a turn runs and transfers to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from google.genai import types

from runtime.contexts.invocation_context import InvocationContext
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.events.event import Event
from runtime.history.agent_tree import AgentTree
from runtime.models.base_llm import BaseLlm
from runtime.planners.base_planner import BasePlanner
from runtime.support.calling import Callbacks
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset

SINGLE_TURN = "single_turn"  # the mode of a sub-agent that is a tool of its parent

StaticInstruction: TypeAlias = str | types.Part | types.File | types.Content | list[str | types.Part | types.File]


class RunnableAgent(AgentTree, Protocol):
    """An agent that a turn can transfer to; every `BaseAgent` is one."""

    def find_agent(self, name: str) -> RunnableAgent | None:
        """Return this agent or the agent below it with that name; None if there is none."""

    def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the agent; see `BaseAgent.run_async`."""


class TurnAgent(AgentTree, Protocol):
    """An agent that calls a language model; `LlmAgent` is one, and documents the attributes."""

    static_instruction: StaticInstruction | None
    generate_content_config: types.GenerateContentConfig | None
    mode: Literal["chat", "task", "single_turn"] | None
    disallow_transfer_to_parent: bool
    disallow_transfer_to_peers: bool
    include_contents: Literal["default", "none"]
    output_schema: Any | None
    planner: BasePlanner | None
    before_model_callback: Callbacks
    after_model_callback: Callbacks
    on_model_error_callback: Callbacks
    before_tool_callback: Callbacks
    after_tool_callback: Callbacks
    on_tool_error_callback: Callbacks

    @property
    def root_agent(self) -> RunnableAgent:
        """The root of the tree."""

    async def canonical_model_async(self, ctx: ReadonlyContext) -> BaseLlm:
        """Return the language model of a turn, as an object."""

    @property
    def tools(self) -> Sequence[Any]:
        """Its functions, tools and toolsets."""

    @property
    def toolsets(self) -> Sequence[BaseToolset]:
        """The toolsets among its tools."""

    async def canonical_instruction(self, ctx: ReadonlyContext) -> str:
        """Return the instruction's text."""

    async def canonical_tools(self, ctx: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools as objects."""
