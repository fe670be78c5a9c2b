"""Workflow agents and custom agents."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.adk.tools import exit_loop
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from harness import REPLIES, Talk, scenario
from typing_extensions import override

MODEL = "gemini-2.0-flash"
logger = logging.getLogger(__name__)


@scenario
async def a_code_pipeline() -> Any:
    REPLIES.update(CodeWriterAgent=["def f(): pass"], CodeReviewerAgent=["Name it."], CodeRefactorerAgent=["def named(): pass"])
    writer = LlmAgent(name="CodeWriterAgent", model=MODEL, instruction="Write.", output_key="generated_code")
    reviewer = LlmAgent(name="CodeReviewerAgent", model=MODEL, instruction="Review:\n{generated_code}", output_key="review_comments")
    refactorer = LlmAgent(
        name="CodeRefactorerAgent", model=MODEL, instruction="Code {generated_code}, review {review_comments}", output_key="refactored_code"
    )
    talk = Talk(SequentialAgent(name="CodePipelineAgent", sub_agents=[writer, reviewer, refactorer]))
    return [await talk.say("a function"), await talk.end()]


def exit_refinement(tool_context: ToolContext) -> dict[str, Any]:
    """Call this function ONLY when the critique indicates no further changes are needed."""
    tool_context.actions.escalate = True
    tool_context.actions.skip_summarization = True
    return {}


@scenario
async def a_refinement_loop() -> Any:
    REPLIES.update(
        InitialWriterAgent=["A cat."],
        CriticAgent=["Longer.", "No major issues found."],
        RefinerAgent=["A long cat.", [("exit_refinement", {})]],
    )
    initial = LlmAgent(name="InitialWriterAgent", model=MODEL, include_contents="none", instruction="Write.", output_key="current_document")
    critic = LlmAgent(
        name="CriticAgent", model=MODEL, include_contents="none", instruction="Judge {current_document}", output_key="criticism"
    )
    refiner = LlmAgent(
        name="RefinerAgent",
        model=MODEL,
        include_contents="none",
        instruction="{current_document} {criticism}",
        tools=[exit_refinement],
        output_key="current_document",
    )
    loop = LoopAgent(name="RefinementLoop", sub_agents=[critic, refiner], max_iterations=5)
    talk = Talk(SequentialAgent(name="IterativeWritingPipeline", sub_agents=[initial, loop]))
    return [await talk.say("a cat"), await talk.end()]


@scenario
async def exit_loop_ends_a_loop() -> Any:
    REPLIES["worker"] = ["more", [("exit_loop", {})]]
    talk = Talk(LoopAgent(name="loop", sub_agents=[LlmAgent(name="worker", model=MODEL, tools=[exit_loop])], max_iterations=9))
    return await talk.say("go")


class CheckStatusAndEscalate(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        status = ctx.session.state.get("quality_status", "fail")
        yield Event(author=self.name, actions=EventActions(escalate=status == "pass"))


@scenario
async def a_checker_escalates() -> Any:
    REPLIES["refiner"] = ["draft", "better"]
    REPLIES["checker"] = ["fail", "pass"]
    refiner = LlmAgent(name="refiner", model=MODEL, output_key="current_code")
    checker = LlmAgent(name="checker", model=MODEL, instruction="Check {current_code}", output_key="quality_status")
    loop = LoopAgent(name="loop", max_iterations=5, sub_agents=[refiner, checker, CheckStatusAndEscalate(name="StopChecker")])
    talk = Talk(loop)
    return [await talk.say("go"), await talk.end()]


@scenario
async def parallel_research() -> Any:
    REPLIES.update(EnergyResearcher=["sun"], EVResearcher=["cars"], Merger=["sun and cars"])
    one = LlmAgent(name="EnergyResearcher", model=MODEL, instruction="Research.", output_key="renewable_energy_result")
    two = LlmAgent(name="EVResearcher", model=MODEL, instruction="Research.", output_key="ev_technology_result")
    parallel = ParallelAgent(name="ParallelWebResearchAgent", sub_agents=[one, two], description="Runs researchers in parallel.")
    merger = LlmAgent(name="Merger", model=MODEL, instruction="{renewable_energy_result} {ev_technology_result}", output_key="merged")
    talk = Talk(SequentialAgent(name="ResearchAndSynthesisPipeline", sub_agents=[parallel, merger]))
    said = await talk.say("go")
    return [sorted(said, key=str), (await talk.end())["state"]]


class StoryFlowAgent(BaseAgent):
    """Orchestrates a story generation and refinement workflow."""

    story_generator: LlmAgent
    critic: LlmAgent
    reviser: LlmAgent
    grammar_check: LlmAgent
    tone_check: LlmAgent
    loop_agent: LoopAgent
    sequential_agent: SequentialAgent

    model_config = {"arbitrary_types_allowed": True}  # noqa: RUF012

    def __init__(
        self,
        name: str,
        story_generator: LlmAgent,
        critic: LlmAgent,
        reviser: LlmAgent,
        grammar_check: LlmAgent,
        tone_check: LlmAgent,
    ) -> None:
        loop_agent = LoopAgent(name="CriticReviserLoop", sub_agents=[critic, reviser], max_iterations=2)
        sequential_agent = SequentialAgent(name="PostProcessing", sub_agents=[grammar_check, tone_check])
        sub_agents_list = [story_generator, loop_agent, sequential_agent]
        super().__init__(
            name=name,
            story_generator=story_generator,
            critic=critic,
            reviser=reviser,
            grammar_check=grammar_check,
            tone_check=tone_check,
            loop_agent=loop_agent,
            sequential_agent=sequential_agent,
            sub_agents=sub_agents_list,
        )

    @override
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async for event in self.story_generator.run_async(ctx):
            logger.info("[%s] %s", self.name, event.model_dump_json(indent=2, exclude_none=True))
            yield event
        if "current_story" not in ctx.session.state or not ctx.session.state["current_story"]:
            return
        async for event in self.loop_agent.run_async(ctx):
            yield event
        async for event in self.sequential_agent.run_async(ctx):
            yield event
        tone_check_result = ctx.session.state.get("tone_check_result")
        if tone_check_result == "negative":
            async for event in self.story_generator.run_async(ctx):
                yield event


@scenario
async def a_story_flow() -> Any:
    REPLIES.update(
        StoryGenerator=["A kitten.", "A happy kitten."],
        Critic=["Dull.", "Still dull."],
        Reviser=["A brave kitten.", "A sad kitten."],
        GrammarCheck=["Grammar is good!"],
        ToneCheck=["negative"],
    )
    writers = {
        "story_generator": ("StoryGenerator", "Write a short story on {topic}.", "current_story"),
        "critic": ("Critic", "Review {current_story}.", "criticism"),
        "reviser": ("Reviser", "Revise {current_story} by {criticism}.", "current_story"),
        "grammar_check": ("GrammarCheck", "Check {current_story}.", "grammar_suggestions"),
        "tone_check": ("ToneCheck", "Tone of {current_story}?", "tone_check_result"),
    }
    agents = {
        field: LlmAgent(name=name, model=MODEL, instruction=instruction, input_schema=None, output_key=key)
        for field, (name, instruction, key) in writers.items()
    }
    talk = Talk(StoryFlowAgent(name="StoryFlowAgent", **agents), state={"topic": "a brave kitten exploring a haunted house"})
    return [await talk.say("go"), await talk.end()]


@scenario
async def an_agent_tree() -> Any:
    leaf = LlmAgent(name="leaf", model=MODEL)
    branch = SequentialAgent(name="branch", sub_agents=[leaf])
    root = LlmAgent(name="root", model=MODEL, sub_agents=[branch])
    try:
        LlmAgent(name="second", model=MODEL, sub_agents=[leaf])
        refused = None
    except ValueError:
        refused = "ValueError"
    copied = root.clone(update={"name": "copy"})
    return [
        leaf.parent_agent.name,
        leaf.root_agent.name,
        root.find_agent("leaf") is leaf,
        root.find_sub_agent("root"),
        refused,
        [copied.name, copied.sub_agents[0].name, copied.sub_agents[0] is branch, copied.sub_agents[0].parent_agent.name],
    ]


@scenario
async def names_that_are_refused() -> Any:
    found = []
    for name in ("with space", "1st", "user", ""):
        try:
            LlmAgent(name=name, model=MODEL)
            found.append(None)
        except ValueError:
            found.append("ValueError")
    return found


class WithState(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            actions=EventActions(state_delta={"a": 1, "user:b": 2, "app:c": 3, "temp:d": 4}),
            content=types.Content(role="model", parts=[types.Part(text="x")]),
        )
        yield Event(author=self.name, content=types.ModelContent(str(sorted(ctx.session.state.to_dict() if 0 else ctx.session.state))))


@scenario
async def every_scope() -> Any:
    talk = Talk(WithState(name="scopes"))
    said = await talk.say("x")
    other = await talk.service.create_session(app_name="docs", user_id="u", session_id="other")
    stranger = await talk.service.create_session(app_name="docs", user_id="v", session_id="other")
    return [said, (await talk.end())["state"], other.state, stranger.state]


class FinancialAdvisor(BaseAgent):
    """Ends the invocation if an account is closed."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        words = ctx.user_content.parts[0].text if ctx.user_content else ""
        told = f"{ctx.agent.name} {ctx.session.id} {ctx.session.app_name} {ctx.branch} {len(ctx.session.events)} {words}"
        yield Event(author=self.name, content=types.ModelContent(told))
        if "closed" in words:
            ctx.end_invocation = True


@scenario
async def what_a_context_tells_and_an_end() -> Any:
    REPLIES["after"] = ["continued", "continued again"]
    pipe = SequentialAgent(name="pipe", sub_agents=[FinancialAdvisor(name="advisor"), LlmAgent(name="after", model=MODEL)])
    talk = Talk(pipe)
    return [await talk.say("open"), await talk.say("closed")]


@scenario
async def a_tool_ends_the_invocation() -> Any:
    def stop(tool_context: ToolContext) -> str:
        """Stops everything."""
        tool_context._invocation_context.end_invocation = True
        return "stopped"

    REPLIES["stopper"] = [[("stop", {})], "not said"]
    REPLIES["after"] = ["continued"]
    stopper = LlmAgent(name="stopper", model=MODEL, tools=[stop])
    return await Talk(SequentialAgent(name="pipe", sub_agents=[stopper, LlmAgent(name="after", model=MODEL)])).say("go")


@scenario
async def a_transfer_to_a_workflow_and_the_turn_after_it() -> Any:
    REPLIES["coordinator"] = [[("transfer_to_agent", {"agent_name": "report_pipeline"})], "Anything else?"]
    REPLIES["drafter"] = ["draft"]
    REPLIES["polisher"] = ["polished"]
    steps = [LlmAgent(name=name, model=MODEL, output_key=name) for name in ("drafter", "polisher")]
    pipeline = SequentialAgent(name="report_pipeline", sub_agents=steps, description="Writes reports.")
    talk = Talk(LlmAgent(name="coordinator", model=MODEL, sub_agents=[pipeline]))
    return [await talk.say("a report"), await talk.say("thanks"), (await talk.end())["state"]]


@scenario
async def a_tool_that_raises() -> Any:
    def breaks() -> None:
        """Breaks."""
        raise LookupError("nothing there")

    REPLIES["fragile"] = [[("breaks", {})]]
    talk = Talk(LlmAgent(name="fragile", model=MODEL, tools=[breaks]))
    try:
        await talk.say("go")
    except LookupError as error:
        return [str(error), (await talk.end())["events"]]
    return None


@scenario
async def parallel_agents_with_tools_and_state() -> Any:
    def note(words: str, tool_context: ToolContext) -> dict[str, Any]:
        """Notes words."""
        tool_context.state[f"note_{tool_context.agent_name}"] = words
        return {"noted": words}

    names = ("left", "right")
    for name in names:
        REPLIES[name] = [[("note", {"words": name})], f"{name} done"]
    agents = [LlmAgent(name=name, model=MODEL, tools=[note], output_key=f"said_{name}") for name in names]
    talk = Talk(ParallelAgent(name="both", sub_agents=agents))
    said = await talk.say("go")
    return [sorted(said, key=str), sorted((await talk.end())["state"].items())]
