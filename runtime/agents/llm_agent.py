"""The agent that thinks with a language model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, ClassVar, Literal, TypeAlias

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, field_validator

from runtime.agents.base_agent import BaseAgent
from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.contexts.invocation_context import InvocationContext
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.events.event import Event
from runtime.flows.llm_flow import LlmFlow
from runtime.history.turns import Turn, events_of_call, read_turn, transferred_to
from runtime.models.base_llm import BaseLlm
from runtime.models.registry import LLMRegistry
from runtime.planners.base_planner import BasePlanner
from runtime.support.calling import Callbacks, call
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset
from runtime.tools.function_tool import FunctionTool
from runtime.tools.output_schema import OutputSchemaError, shaped
from runtime.utils.instructions_utils import inject_session_state

InstructionProvider: TypeAlias = Callable[[ReadonlyContext], str | Awaitable[str]]
ToolUnion: TypeAlias = Callable[..., Any] | BaseTool | BaseToolset
BeforeModelCallback: TypeAlias = Callbacks
AfterModelCallback: TypeAlias = Callbacks
OnModelErrorCallback: TypeAlias = Callbacks
BeforeToolCallback: TypeAlias = Callbacks
AfterToolCallback: TypeAlias = Callbacks
OnToolErrorCallback: TypeAlias = Callbacks


class LlmAgent(BaseAgent):
    """An agent that asks a language model what to do, runs the tools it calls, and goes on until it has an answer.

    Attributes:
        model: a model's name, a `BaseLlm`, or "" for the nearest ancestor's (`LlmAgent.DEFAULT_MODEL` at the root).
        instruction: what it is to do; `{key}` is filled in from state. A text that a function returns is taken as it is.
        global_instruction: put before the instruction of every agent of the tree; the root's counts.
        static_instruction: content that never changes; `instruction` then goes into the conversation.
        tools: functions, tools or groups of tools it may call.
        generate_content_config: sampling and safety, as google-genai has it; no tools, instruction or schema.
        disallow_transfer_to_parent, disallow_transfer_to_peers: where it may not hand over to.
        include_contents: `none`: it sees only the present turn.
        input_schema: the arguments it takes when it is called as a tool.
        output_schema: the shape of its answer.
        output_key: the state key its answer is written to (seed: session-state, "output_key").
        planner: how its model plans; thoughts are kept as parts of its answers.
        code_executor: `BuiltInCodeExecutor()`, by which a Gemini model runs code itself; no other is supported.
        before_model_callback, after_model_callback, on_model_error_callback: round each model call; a response that one returns stands in
            for the model's.
        before_tool_callback, after_tool_callback, on_tool_error_callback: round each tool call; a dict that one returns stands in for the
            tool's result.
    """

    model_config = ConfigDict(defer_build=True)  # see LlmResponse

    DEFAULT_MODEL: ClassVar[str] = "gemini-2.5-flash"

    model: str | BaseLlm = ""
    instruction: str | InstructionProvider = ""
    global_instruction: str | InstructionProvider = ""
    static_instruction: str | types.Part | types.Content | None = None
    tools: list[ToolUnion] = Field(default_factory=list)
    generate_content_config: types.GenerateContentConfig | None = None
    disallow_transfer_to_parent: bool = False
    disallow_transfer_to_peers: bool = False
    include_contents: Literal["default", "none"] = "default"
    input_schema: type[BaseModel] | None = None
    output_schema: Any | None = None
    output_key: str | None = None
    planner: BasePlanner | None = None
    code_executor: BaseCodeExecutor | None = None
    before_model_callback: Callbacks = None
    after_model_callback: Callbacks = None
    on_model_error_callback: Callbacks = None
    before_tool_callback: Callbacks = None
    after_tool_callback: Callbacks = None
    on_tool_error_callback: Callbacks = None

    @field_validator("generate_content_config")
    @classmethod
    def _leave_to_the_agent(cls, config: types.GenerateContentConfig | None) -> types.GenerateContentConfig | None:
        for taken, instead in (("tools", "tools"), ("system_instruction", "instruction"), ("response_schema", "output_schema")):
            if config and getattr(config, taken):
                raise ValueError(f"Set {instead} of the LlmAgent, not {taken} of its generate_content_config.")
        return config

    @field_validator("code_executor", mode="before")
    @classmethod
    def _run_no_code_here(cls, executor: Any) -> Any:
        if executor is not None and not isinstance(executor, BaseCodeExecutor):
            raise ValueError(
                "Running code that a model wrote is not supported here: give the agent a tool for it, or BuiltInCodeExecutor(), by which"
                " Gemini runs it where it runs itself."
            )
        return executor

    @property
    def canonical_model(self) -> BaseLlm:
        """The language model, as an object; inherited from the nearest ancestor that names one.

        Raises:
            KnownError: no class serves a model of that name.
        """
        for agent in (self, *self.ancestors()):
            if isinstance(agent, LlmAgent) and agent.model:
                return agent.model if isinstance(agent.model, BaseLlm) else LLMRegistry.new_llm(agent.model)
        return LLMRegistry.new_llm(self.DEFAULT_MODEL)

    async def canonical_instruction(self, ctx: ReadonlyContext) -> str:
        """Return the instruction, state filled in unless a function gave it."""
        return await _instruction_text(self.instruction, ctx)

    async def canonical_global_instruction(self, ctx: ReadonlyContext) -> str:
        """Return the global instruction, state filled in unless a function gave it."""
        return await _instruction_text(self.global_instruction, ctx)

    async def canonical_tools(self, ctx: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools as objects; plain functions become `FunctionTool`s, toolsets are asked for theirs."""
        tools: list[BaseTool] = []
        for given in self.tools:
            if isinstance(given, BaseToolset):
                tools += await given.get_tools_with_prefix(ctx)
            else:
                tools.append(given if isinstance(given, BaseTool) else FunctionTool(given))
        return tools

    @property
    def toolsets(self) -> list[BaseToolset]:
        """The groups among its tools."""
        return [given for given in self.tools if isinstance(given, BaseToolset)]

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        turn = self._turn_so_far(ctx)
        target = transferred_to(self.name, self._own_events(ctx)) if ctx.resumed_checkpoints() is not None else None
        handed_over_to = self.root_agent.find_agent(target) if target is not None else None
        if handed_over_to is not None:
            async with aclosing(handed_over_to.run_async(ctx)) as events:
                async for event in events:
                    yield event
        elif not (turn and turn.answered):
            async with aclosing(LlmFlow(self).run(ctx, turn)) as events:
                async for event in events:
                    self._save_output(event)
                    yield event
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _turn_so_far(self, ctx: InvocationContext) -> Turn | None:
        """Return where this agent's turn stands, if it began before this run; None for a fresh one."""
        if ctx.resumed_checkpoints() is not None:
            return read_turn(self._own_events(ctx), self.name)
        if ctx.depth == 1 and _holds_function_response(ctx.user_content):
            # Without resumability an answer from outside begins a new invocation; the call is in an older one.
            return read_turn([event for event in ctx.session.events if event.branch == ctx.branch or event.author == "user"], self.name)
        return None

    def _own_events(self, ctx: InvocationContext) -> list[Event]:
        return events_of_call(self, ctx.invocation_events(), ctx.branch)

    def _save_output(self, event: Event) -> None:
        """Put the answer's text into the event's delta, under `output_key`."""
        if not self.output_key or event.author != self.name or event.partial or not event.content or not event.content.parts:
            return
        if not event.is_final_response() or event.get_function_calls() or event.get_function_responses():
            return
        text = "".join(part.text for part in event.content.parts if part.text and not part.thought)
        if self.output_schema is None:
            event.actions.state_delta[self.output_key] = text
        elif text.strip():
            event.actions.state_delta[self.output_key] = self._validated(text)

    def _validated(self, text: str) -> Any:
        try:
            return shaped(self.output_schema, text)
        except OutputSchemaError as error:
            raise OutputSchemaError(f"The answer of {self.name!r} does not have the shape of its output_schema: {error}") from error


async def _instruction_text(instruction: str | InstructionProvider, ctx: ReadonlyContext) -> str:
    if isinstance(instruction, str):
        return await inject_session_state(instruction, ctx)
    return str(await call(instruction, context=ctx))


def _holds_function_response(content: types.Content | None) -> bool:
    return bool(content and any(part.function_response for part in content.parts or ()))


Agent: TypeAlias = LlmAgent
