"""A story written in four steps, with a checkpoint for each.

A custom agent calls the others: a writer drafts the story, a critic and a reviser improve it twice, then two agents check grammar and
tone, and the story is written again if the tone is too dark. The agent yields a checkpoint before each step. Kill it anywhere, resume it,
and it continues at the step where it was.

Runs without a key on a scripted model; with GOOGLE_API_KEY set, on Gemini.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator
from enum import Enum

from runtime.agents import BaseAgent, BaseAgentState, CallbackContext, InvocationContext, LlmAgent, LoopAgent, SequentialAgent
from runtime.apps import App, ResumabilityConfig
from runtime.events import Event
from runtime.models import LlmResponse

from .script import story_script

MODEL = "gemini-2.5-flash" if os.environ.get("GOOGLE_API_KEY") else story_script()


class WorkflowStep(int, Enum):
    """The steps that have a checkpoint."""

    INITIAL_STORY_GENERATION = 1
    CRITIC_REVISER_LOOP = 2
    POST_PROCESSING = 3
    CONDITIONAL_REGENERATION = 4


class StoryFlowAgentState(BaseAgentState):
    """The checkpoint: the next or present step."""

    step: WorkflowStep = WorkflowStep.INITIAL_STORY_GENERATION


class StoryFlowAgent(BaseAgent):
    """Takes a story from a topic to its final version."""

    story_generator: LlmAgent
    loop_agent: LoopAgent
    sequential_agent: SequentialAgent

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        checkpoint = self._load_agent_state(ctx, StoryFlowAgentState)
        if checkpoint is None:
            checkpoint = StoryFlowAgentState()
            beginning = self._create_agent_state_event(ctx, checkpoint)
            # In the same event as the first checkpoint: both are committed, or neither is.
            beginning.actions.state_delta.update(fresh_state(ctx))
            yield beginning
        next_step = checkpoint.step

        if next_step <= WorkflowStep.INITIAL_STORY_GENERATION:
            async for event in self.story_generator.run_async(ctx):
                yield event
            if not ctx.session.state.get("current_story"):
                return

        yield self._create_agent_state_event(ctx, StoryFlowAgentState(step=WorkflowStep.CRITIC_REVISER_LOOP))
        if next_step <= WorkflowStep.CRITIC_REVISER_LOOP:
            async for event in self.loop_agent.run_async(ctx):
                yield event

        yield self._create_agent_state_event(ctx, StoryFlowAgentState(step=WorkflowStep.POST_PROCESSING))
        if next_step <= WorkflowStep.POST_PROCESSING:
            async for event in self.sequential_agent.run_async(ctx):
                yield event

        yield self._create_agent_state_event(ctx, StoryFlowAgentState(step=WorkflowStep.CONDITIONAL_REGENERATION))
        if next_step <= WorkflowStep.CONDITIONAL_REGENERATION and "negative" in ctx.session.state.get("tone_check_result", ""):
            async for event in self.story_generator.run_async(ctx):
                yield event

        yield self._create_agent_state_event(ctx, end_of_agent=True)


def fresh_state(ctx: InvocationContext) -> dict[str, object]:
    """Return the initial state for a new story: its topic, and nothing of the previous story."""
    state = ctx.session.state
    return {
        "topic": topic_of(ctx),
        "current_story": "",
        "words": 0,
        "tone_check_result": "",
        "user:stories": state.get("user:stories", 0) + 1,
        "app:house_style": state.get("app:house_style", "plain words, short sentences, one picture the reader keeps"),
    }


def topic_of(ctx: InvocationContext) -> str:
    """Return the topic in the user's message."""
    parts = (ctx.user_content and ctx.user_content.parts) or []
    message = " ".join(part.text for part in parts if part.text).strip()
    topic = re.sub(r"(?i)^(please )?(write|tell)?( me)?\s*((a|the)\s*)?(short )?story (about|of) ", "", message).rstrip(" .!")
    return topic or "a lighthouse keeper and her cat"


def count_words(callback_context: CallbackContext, llm_response: LlmResponse) -> None:
    """Record the length of the new version. Runs after the model answered; the record is committed with the answer."""
    if llm_response.partial or not llm_response.content:
        return
    words = sum(len((part.text or "").split()) for part in llm_response.content.parts or [])
    callback_context.state["temp:growth"] = words - callback_context.state.get("words", 0)
    callback_context.state["words"] = words


story_generator = LlmAgent(
    name="StoryGenerator",
    description="Writes the story.",
    model=MODEL,
    instruction=(
        "You are a story writer. Write a short story of about 100 words about {topic}, in this style: {app:house_style}. "
        "A tone check of an earlier version said: '{tone_check_result}'. If it says negative, write a new, warmer story."
    ),
    output_key="current_story",
    after_model_callback=count_words,
)

critic = LlmAgent(
    name="Critic",
    description="Says what is wrong with the story.",
    model=MODEL,
    instruction="You are a story critic. In one or two sentences, say how this story could be better:\n\n{current_story}",
    output_key="criticism",
)

reviser = LlmAgent(
    name="Reviser",
    description="Mends what the critic found.",
    model=MODEL,
    instruction=(
        "You are a story reviser. Rewrite the story so that it answers the criticism. Style: {app:house_style}. "
        "Give nothing but the story.\n\nStory:\n{current_story}\n\nCriticism:\n{criticism}"
    ),
    output_key="current_story",
    after_model_callback=count_words,
)

grammar_check = LlmAgent(
    name="GrammarCheck",
    description="Reads for grammar.",
    model=MODEL,
    instruction="You check grammar. List the corrections this story needs, or say 'Grammar is good!':\n\n{current_story}",
    output_key="grammar_suggestions",
)

tone_check = LlmAgent(
    name="ToneCheck",
    description="Reads for tone.",
    model=MODEL,
    instruction="You check tone. Answer with one word, positive, negative or neutral, for this story:\n\n{current_story}",
    output_key="tone_check_result",
)

critic_reviser_loop = LoopAgent(name="CriticReviserLoop", sub_agents=[critic, reviser], max_iterations=2)
post_processing = SequentialAgent(name="PostProcessing", sub_agents=[grammar_check, tone_check])

root_agent = StoryFlowAgent(
    name="StoryFlow",
    description="Writes, revises and checks a story.",
    story_generator=story_generator,
    loop_agent=critic_reviser_loop,
    sequential_agent=post_processing,
    sub_agents=[story_generator, critic_reviser_loop, post_processing],
)

app = App(name="story", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
