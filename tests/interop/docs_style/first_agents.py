"""A newcomer's first agents: a tool, a team, state and guardrails."""

from __future__ import annotations

from typing import Any

from google.adk.agents import Agent, LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from harness import REPLIES, Talk, scenario


def get_weather(city: str) -> dict:
    """Retrieves the current weather report for a specified city.

    Args:
        city (str): The name of the city (e.g., "New York", "London", "Tokyo").

    Returns:
        dict: 'status' and 'report' or 'error_message'.
    """
    known = {"london": "Rain, 11 degrees.", "cairo": "Sun, 33 degrees."}
    report = known.get(city.lower())
    if report is None:
        return {"status": "error", "error_message": f"Nothing is known of '{city}'."}
    return {"status": "success", "report": report}


def get_current_time(city: str, utc: bool = False) -> str:
    """Returns the current time in a city."""
    return f"noon in {city}" + (" (UTC)" if utc else "")


@scenario
async def weather_agent() -> Any:
    REPLIES["weather_time_agent"] = [
        [("get_weather", {"city": "Cairo"}), ("get_current_time", {"city": "Cairo"})],
        "33 degrees, at noon.",
        [("get_weather", {"city": "Atlantis"})],
        "I know nothing of Atlantis.",
        [("get_weather", {})],
        "Which city?",
    ]
    root_agent = Agent(
        name="weather_time_agent",
        model="gemini-2.0-flash",
        description="Agent to answer questions about the time and weather in a city.",
        instruction="You are a helpful agent who can answer user questions about the time and weather in a city.",
        tools=[get_weather, get_current_time],
    )
    talk = Talk(root_agent)
    answers = [await talk.say("Weather in Cairo?"), await talk.say("And in Atlantis?"), await talk.say("And there?")]
    return [*answers, await talk.end()]


@scenario
async def the_final_answer_of_a_turn() -> Any:
    """The event loop of every page of the docs."""
    REPLIES["greeter"] = ["Hello!"]
    talk = Talk(Agent(name="greeter", model="gemini-2.0-flash", instruction="Greet."))
    final_response_text = "Agent did not produce a final response."
    for event in await talk.events("Hi"):
        if event.is_final_response():
            if event.content and event.content.parts:
                final_response_text = event.content.parts[0].text
            elif event.actions and event.actions.escalate:
                final_response_text = f"Agent escalated: {event.error_message or 'No specific message.'}"
            break
    return final_response_text


def say_hello(name: str | None = None) -> str:
    """Provides a simple greeting.

    Args:
        name: whom to greet.
    """
    return f"Hello, {name}!" if name else "Hello there!"


def say_goodbye() -> str:
    """Provides a simple farewell."""
    return "Goodbye!"


@scenario
async def a_team() -> Any:
    REPLIES["root"] = [[("transfer_to_agent", {"agent_name": "greeting_agent"})], [("get_weather", {"city": "London"})], "Rain."]
    REPLIES["greeting_agent"] = [[("say_hello", {"name": "Ana"})], "Hello, Ana!", [("transfer_to_agent", {"agent_name": "root"})]]
    greeting_agent = Agent(name="greeting_agent", model="gemini-2.0-flash", description="Greets.", instruction="Greet.", tools=[say_hello])
    farewell_agent = Agent(name="farewell_agent", model="gemini-2.0-flash", description="Parts.", instruction="Part.", tools=[say_goodbye])
    root = Agent(
        name="root",
        model="gemini-2.0-flash",
        description="The main coordinator agent.",
        instruction="Delegate greetings and farewells.",
        tools=[get_weather],
        sub_agents=[greeting_agent, farewell_agent],
        output_key="last_report",
    )
    talk = Talk(root)
    return [await talk.say("Hello"), await talk.say("Weather in London?"), await talk.end()]


@scenario
async def a_transfer_between_peers() -> Any:
    REPLIES["desk"] = [[("transfer_to_agent", {"agent_name": "billing"})]]
    REPLIES["billing"] = [[("transfer_to_agent", {"agent_name": "support"})]]
    REPLIES["support"] = ["It is mended.", "Still mended."]
    billing = LlmAgent(name="billing", model="gemini-2.0-flash", description="Bills.")
    support = LlmAgent(
        name="support", model="gemini-2.0-flash", description="Mends.", disallow_transfer_to_parent=True, disallow_transfer_to_peers=True
    )
    talk = Talk(LlmAgent(name="desk", model="gemini-2.0-flash", sub_agents=[billing, support]))
    return [await talk.say("It is broken"), await talk.end()]


def get_weather_stateful(city: str, tool_context: ToolContext) -> dict:
    """Retrieves weather, converts temp unit based on session state."""
    unit = tool_context.state.get("user_preference_temperature_unit", "Celsius")
    report = "33°C" if unit == "Celsius" else "91°F"
    tool_context.state["last_city_checked_stateful"] = city
    return {"status": "success", "report": report}


@scenario
async def a_stateful_tool_and_an_output_key() -> Any:
    REPLIES["weather"] = [[("get_weather_stateful", {"city": "Cairo"})], "91°F"] * 2
    agent = Agent(
        name="weather",
        model="gemini-2.0-flash",
        instruction="Use {user_preference_temperature_unit}. {note?}",
        tools=[get_weather_stateful],
        output_key="last_weather_report",
    )
    talk = Talk(agent, state={"user_preference_temperature_unit": "Fahrenheit"})
    first = await talk.say("Cairo?")
    second = await talk.say("Again?", state_delta={"user_preference_temperature_unit": "Celsius"})
    return [first, second, await talk.end()]


def block_keyword_guardrail(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    """Inspects the latest user message for 'BLOCK'."""
    last_user_message_text = ""
    for content in reversed(llm_request.contents or []):
        if content.role == "user" and content.parts and content.parts[0].text:
            last_user_message_text = content.parts[0].text
            break
    if "BLOCK" in last_user_message_text.upper():
        callback_context.state["guardrail_block_keyword_triggered"] = True
        return LlmResponse(content=types.Content(role="model", parts=[types.Part(text="I cannot process this request.")]))
    return None


def block_paris_tool_guardrail(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> dict | None:
    """Blocks get_weather for Paris."""
    if tool.name == "get_weather" and args.get("city", "").lower() == "paris":
        tool_context.state["guardrail_tool_block_triggered"] = True
        return {"status": "error", "error_message": "Policy restriction."}
    return None


@scenario
async def guardrails() -> Any:
    REPLIES["guarded"] = [[("get_weather", {"city": "Paris"}), ("get_weather", {"city": "London"})], "Not Paris."]
    agent = Agent(
        name="guarded",
        model="gemini-2.0-flash",
        instruction="Answer.",
        tools=[get_weather],
        before_model_callback=block_keyword_guardrail,
        before_tool_callback=block_paris_tool_guardrail,
        output_key="last",
    )
    talk = Talk(agent)
    return [await talk.say("BLOCK the request"), await talk.say("Paris and London?"), await talk.end()]
