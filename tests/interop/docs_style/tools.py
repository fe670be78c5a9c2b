"""Tools: approvals, confirmations, agents as tools, custom tools, and loops that a tool ends."""

from typing import Any, Literal

from google.adk.agents import Agent, LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.apps import App, ResumabilityConfig
from google.adk.tools import AgentTool, BaseTool, FunctionTool, LongRunningFunctionTool, ToolContext, google_search
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types
from harness import REPLIES, Talk, parts_of, scenario
from pydantic import BaseModel, Field

MODEL = "gemini-2.0-flash"


def ask_for_approval(purpose: str, amount: float) -> dict[str, Any]:
    """Ask for approval for the reimbursement."""
    return {"status": "pending", "approver": "Sean Zhou", "purpose": purpose, "amount": amount, "ticket-id": "approval-ticket-1"}


def reimburse(purpose: str, amount: float) -> str:
    """Reimburse the amount of money to the employee."""
    return f"paid {amount} for {purpose}"


def open_call(events: list[Any]) -> types.FunctionCall:
    for event in events:
        for call in event.get_function_calls():
            if event.long_running_tool_ids and call.id in event.long_running_tool_ids:
                return call
    raise AssertionError("nothing waits")


def reply_to(call: types.FunctionCall, response: dict[str, Any], name: str | None = None) -> types.Content:
    part = types.Part(function_response=types.FunctionResponse(id=call.id, name=name or call.name, response=response))
    return types.Content(role="user", parts=[part])


@scenario
async def a_long_running_approval() -> Any:
    REPLIES["reimbursement"] = [
        [("ask_for_approval", {"purpose": "meals", "amount": 200})],
        "I have asked your manager.",
        [("reimburse", {"purpose": "meals", "amount": 200})],
        "You are paid.",
    ]
    agent = Agent(
        name="reimbursement",
        model=MODEL,
        instruction="Reimburse.",
        tools=[reimburse, LongRunningFunctionTool(func=ask_for_approval)],
        generate_content_config=types.GenerateContentConfig(temperature=0.1),
    )
    talk = Talk(agent)
    events = await talk.events("Please reimburse 200$ for meals")
    call = open_call(events)
    approved = {"status": "approved", "ticket-id": "approval-ticket-1"}
    return [[parts_of(event.content) for event in events], await talk.say(reply_to(call, approved)), await talk.end()]


def transfer_money(amount: int, tool_context: ToolContext) -> str:
    """Transfers money."""
    return f"transferred {amount}"


def request_time_off(days: int, tool_context: ToolContext) -> dict[str, Any]:
    """Request day off for the employee."""
    tool_confirmation = tool_context.tool_confirmation
    if not tool_confirmation:
        tool_context.request_confirmation(hint="Please approve or reject request_time_off().", payload={"approved_days": 0})
        return {"status": "Manager approval is required."}
    approved_days = tool_confirmation.payload["approved_days"]
    return {"status": "ok", "approved_days": min(approved_days, days)}


async def needs_confirmation(amount: int, tool_context: ToolContext) -> bool:
    return amount > 1000


async def confirmed(tool: Any, calls: list[Any], response: dict[str, Any]) -> Any:
    REPLIES["clerk"] = [calls, "All done."]
    agent = Agent(name="clerk", model=MODEL, tools=[tool])
    app = App(name="confirming", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))
    talk = Talk(app=app)
    events = await talk.events("go")
    asked = [call for event in events for call in event.get_function_calls() if call.name == "adk_request_confirmation"]
    first = [parts_of(event.content) for event in events]
    if not asked:
        return first
    answered = await talk.events(reply_to(asked[0], response), invocation_id=events[0].invocation_id)
    return [first, [parts_of(event.content) for event in answered], (await talk.end())["state"]]


@scenario
async def a_confirmation_is_given() -> Any:
    tool = FunctionTool(transfer_money, require_confirmation=True)
    return await confirmed(tool, [("transfer_money", {"amount": 5})], {"confirmed": True})


@scenario
async def a_confirmation_is_refused() -> Any:
    tool = FunctionTool(transfer_money, require_confirmation=True)
    return await confirmed(tool, [("transfer_money", {"amount": 5})], {"confirmed": False})


@scenario
async def a_confirmation_that_depends() -> Any:
    tool = FunctionTool(transfer_money, require_confirmation=needs_confirmation)
    small = await confirmed(tool, [("transfer_money", {"amount": 5})], {"confirmed": True})
    return [small, await confirmed(tool, [("transfer_money", {"amount": 5000})], {"confirmed": True})]


@scenario
async def a_confirmation_with_a_payload() -> Any:
    calls = [("request_time_off", {"days": 5})]
    return await confirmed(request_time_off, calls, {"confirmed": True, "payload": {"approved_days": 3}})


@scenario
async def an_agent_as_a_tool() -> Any:
    REPLIES["root"] = [[("summary_agent", {"request": "a long text"})], "The summary is: short."]
    REPLIES["summary_agent"] = ["short"]
    summary_agent = Agent(name="summary_agent", model=MODEL, instruction="Summarize.", description="Summarizes.", output_key="summary")
    talk = Talk(Agent(name="root", model=MODEL, tools=[AgentTool(agent=summary_agent)]))
    return [await talk.say("Sum up"), await talk.end()]


@scenario
async def an_agent_as_a_tool_skips_the_summary() -> Any:
    REPLIES["root"] = [[("summary_agent", {"request": "a long text"})]]
    REPLIES["summary_agent"] = ["short"]
    summary_agent = Agent(name="summary_agent", model=MODEL, description="Summarizes.")
    talk = Talk(Agent(name="root", model=MODEL, tools=[AgentTool(agent=summary_agent, skip_summarization=True)]))
    return await talk.say("Sum up")


class CountryInput(BaseModel):
    country: str = Field(description="The country to get information about.")


class CapitalInfoOutput(BaseModel):
    capital: str = Field(description="The capital city of the country.")
    population_estimate: str = Field(description="An estimated population of the capital city.")


@scenario
async def schemas() -> Any:
    REPLIES["capital_agent"] = ['{"capital": "Lima", "population_estimate": "10 million"}'] * 2
    REPLIES["asker"] = [[("capital_agent", {"country": "Peru"})], "Lima."]
    capital_agent = LlmAgent(
        name="capital_agent",
        model=MODEL,
        description="Knows capitals.",
        input_schema=CountryInput,
        output_schema=CapitalInfoOutput,
        output_key="structured_info_result",
    )
    alone = Talk(capital_agent)
    return [
        await alone.say('{"country": "Peru"}'),
        await alone.end(),
        await Talk(LlmAgent(name="asker", model=MODEL, tools=[AgentTool(capital_agent)])).say("Peru?"),
    ]


class SimpleMathToolset(BaseToolset):
    """Tools that depend on the state."""

    def __init__(self, prefix: str = "math_") -> None:
        super().__init__()
        self.prefix = prefix

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        tools = [FunctionTool(func=self.add_numbers)]
        if readonly_context and readonly_context.state.get("can_subtract"):
            tools.append(FunctionTool(func=self.subtract_numbers))
        return tools

    async def close(self) -> None:
        CLOSED.append(self.prefix)

    async def add_numbers(self, a: int, b: int, tool_context: ToolContext) -> dict[str, Any]:
        """Adds two integer numbers."""
        tool_context.state["last_math_operation"] = "addition"
        return {"status": "success", "result": a + b}

    async def subtract_numbers(self, a: int, b: int) -> dict[str, Any]:
        """Subtracts."""
        return {"status": "success", "result": a - b}


CLOSED: list[str] = []


@scenario
async def a_toolset() -> Any:
    CLOSED.clear()
    REPLIES["calculator"] = [[("add_numbers", {"a": 1, "b": 2})], "3", [("subtract_numbers", {"a": 5, "b": 2})], "3 again"]
    talk = Talk(LlmAgent(name="calculator", model=MODEL, tools=[SimpleMathToolset()]))
    said = [await talk.say("1 + 2"), await talk.say("5 - 2", state_delta={"can_subtract": True})]
    await talk.runner.close()
    return [*said, CLOSED]


@scenario
async def google_search_is_a_tool() -> Any:
    REPLIES["searcher"] = ["Found."]
    return await Talk(Agent(name="searcher", model="gemini-2.5-flash", tools=[google_search])).say("x")


class Loud(BaseTool):
    """A tool without a function."""

    def __init__(self) -> None:
        super().__init__(name="loud", description="Shouts.")

    def _get_declaration(self) -> types.FunctionDeclaration:
        words = types.Schema(type=types.Type.STRING)
        parameters = types.Schema(type=types.Type.OBJECT, properties={"words": words}, required=["words"])
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters=parameters)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        tool_context.actions.skip_summarization = True
        return {"shouted": args["words"].upper()}


@scenario
async def a_tool_of_ones_own() -> Any:
    REPLIES["shouter"] = [[("loud", {"words": "hello"})]]
    return await Talk(LlmAgent(name="shouter", model=MODEL, tools=[Loud()])).say("x")


class Address(BaseModel):
    street: str
    number: int = 1


def many_types(
    where: str,
    tags: list[str],
    kind: Literal["a", "b"] = "a",
    ratio: float = 0.5,
    extra: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Takes arguments of many types."""
    return {"where": where, "tags": tags, "kind": kind, "ratio": ratio, "extra": extra}


@scenario
async def arguments_of_many_types() -> Any:
    REPLIES["typed"] = [
        [("many_types", {"where": "Elm", "tags": ["x"], "kind": "b", "ratio": 2, "extra": {"k": 1}})],
        [("many_types", {"where": "Oak", "tags": []})],
        [("many_types", {"tags": []})],
        "done",
    ]
    return await Talk(LlmAgent(name="typed", model=MODEL, tools=[many_types])).say("x")


@scenario
async def what_tools_return() -> Any:
    def nothing() -> None:
        """Nothing."""

    def a_list() -> list[int]:
        """A list."""
        return [1, 2]

    async def a_text() -> str:
        """A text."""
        return "t"

    def a_model() -> Address:
        """A model."""
        return Address(street="Elm")

    REPLIES["caller"] = [[(name, {}) for name in ("nothing", "a_list", "a_text", "a_model")], "done"]
    return await Talk(LlmAgent(name="caller", model=MODEL, tools=[nothing, a_list, a_text, a_model])).say("x")


def escalating(tool_context: ToolContext) -> str:
    """Sends the conversation elsewhere."""
    tool_context.actions.transfer_to_agent = "expert"
    return "Transferring to the expert..."


@scenario
async def a_tool_transfers() -> Any:
    REPLIES["front"] = [[("escalating", {})]]
    REPLIES["expert"] = ["I am the expert."]
    expert = Agent(name="expert", model=MODEL, description="Knows.")
    return await Talk(Agent(name="front", model=MODEL, tools=[escalating], sub_agents=[expert])).say("x")


assert ToolConfirmation(hint="h", confirmed=True).confirmed
