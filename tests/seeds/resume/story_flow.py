"""StoryFlowAgent of the resume seed, with its state class and the constructor of the custom-agents page.

Checkpoints can be written in each of the three ways that are in use.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from enum import Enum
from typing import Any, Literal

from pydantic import ConfigDict
from typing_extensions import override

from runtime.agents import BaseAgent, BaseAgentState, InvocationContext, LlmAgent, LoopAgent, SequentialAgent
from runtime.events import Event
from runtime.models.scripted_llm import ScriptedLlm

logger = logging.getLogger(__name__)

Spelling = Literal["as written", "positional", "keyword", "set_agent_state"]
SPELLINGS: tuple[Spelling, ...] = ("as written", "positional", "keyword", "set_agent_state")


class WorkflowStep(int, Enum):
    INITIAL_STORY_GENERATION = 1
    CRITIC_REVISER_LOOP = 2
    POST_PROCESSING = 3
    CONDITIONAL_REGENERATION = 4


class StoryFlowAgentState(BaseAgentState):
    step: WorkflowStep


class StoryFlowAgent(BaseAgent):
    story_generator: LlmAgent
    critic: LlmAgent
    reviser: LlmAgent
    grammar_check: LlmAgent
    tone_check: LlmAgent
    loop_agent: LoopAgent
    sequential_agent: SequentialAgent
    spelling: Spelling = "positional"

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def __init__(self, name: str, spelling: Spelling = "positional", *, tone: str = "negative", rounds: int = 2) -> None:
        agents: dict[str, Any] = {
            "story_generator": _writer("StoryGenerator", ["A cat sailed north.", "A cat sailed home."], "current_story"),
            "critic": _writer("Critic", ["Too short.", "Better."], "criticism"),
            "reviser": _writer("Reviser", ["A cat sailed north, slowly.", "A cat sailed north, very slowly."], "current_story"),
            "grammar_check": _writer("GrammarCheck", ["Grammar is good!"], "grammar_suggestions"),
            "tone_check": _writer("ToneCheck", [tone], "tone_check_result"),
        }
        loop_agent = LoopAgent(name="CriticReviserLoop", sub_agents=[agents["critic"], agents["reviser"]], max_iterations=rounds)
        sequential_agent = SequentialAgent(name="PostProcessing", sub_agents=[agents["grammar_check"], agents["tone_check"]])
        super().__init__(
            name=name,
            **agents,
            loop_agent=loop_agent,
            sequential_agent=sequential_agent,
            spelling=spelling,
            sub_agents=[agents["story_generator"], loop_agent, sequential_agent],
        )

    def _checkpoint(self, ctx: InvocationContext, step: WorkflowStep) -> Event:
        state = StoryFlowAgentState(step=step)
        if self.spelling == "positional":
            return self._create_agent_state_event(ctx, state)
        if self.spelling == "keyword":
            return self._create_agent_state_event(ctx, agent_state=state)
        ctx.set_agent_state(self.name, agent_state=state)
        return self._create_agent_state_event(ctx)

    def _end(self, ctx: InvocationContext) -> Event:
        if self.spelling != "set_agent_state":
            return self._create_agent_state_event(ctx, end_of_agent=True)
        ctx.set_agent_state(self.name, end_of_agent=True)
        return self._create_agent_state_event(ctx)

    @override
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        # As in the seed, where the Enum is passed as the state class: the result must have `.step`.
        agent_state = self._load_agent_state(ctx, WorkflowStep if self.spelling == "positional" else StoryFlowAgentState)

        if agent_state is None:
            # Record the start of the agent
            agent_state = StoryFlowAgentState(step=WorkflowStep.INITIAL_STORY_GENERATION)
            yield self._checkpoint(ctx, WorkflowStep.INITIAL_STORY_GENERATION)

        next_step = agent_state.step
        logger.info(f"[{self.name}] Starting story generation workflow.")

        # Step 1. Initial story generation
        if next_step <= WorkflowStep.INITIAL_STORY_GENERATION:
            async for event in self.story_generator.run_async(ctx):
                yield event

            if "current_story" not in ctx.session.state or not ctx.session.state["current_story"]:
                return

        yield self._checkpoint(ctx, WorkflowStep.CRITIC_REVISER_LOOP)

        # Step 2. Critic and reviser loop
        if next_step <= WorkflowStep.CRITIC_REVISER_LOOP:
            async for event in self.loop_agent.run_async(ctx):
                logger.info(f"[{self.name}] Event from CriticReviserLoop: {event.model_dump_json(indent=2, exclude_none=True)}")
                yield event

        yield self._checkpoint(ctx, WorkflowStep.POST_PROCESSING)

        # Step 3. Grammar and tone check
        if next_step <= WorkflowStep.POST_PROCESSING:
            async for event in self.sequential_agent.run_async(ctx):
                yield event

        yield self._checkpoint(ctx, WorkflowStep.CONDITIONAL_REGENERATION)

        # Step 4. Conditional regeneration
        if next_step <= WorkflowStep.CONDITIONAL_REGENERATION and ctx.session.state.get("tone_check_result") == "negative":
            async for event in self.story_generator.run_async(ctx):
                yield event

        yield self._end(ctx)


def _writer(name: str, replies: list[str], output_key: str) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(replies=replies), instruction="Write.", output_key=output_key)
