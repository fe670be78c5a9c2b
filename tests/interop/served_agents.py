"""An agent that both our server and google-adk's can serve: it uses google-adk's names only."""

from __future__ import annotations

from pathlib import Path

DESK = '''from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.genai import types


class Canned(BaseLlm):
    """Answers by what it was asked."""

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1]
        answer = next((p.function_response for p in last.parts if p.function_response), None)
        text = " ".join(p.text for p in last.parts if p.text)
        if answer is not None:
            yield said(f"{answer.name} says {answer.response}")
        elif "save" in text:
            yield called("write_note", {"text": "hello"})
        elif "approve" in text:
            yield called("ask_manager", {"amount": 5})
        elif stream:
            yield said("one ", partial=True)
            yield said("two", partial=True)
            yield said("one two")
        else:
            yield said("one two")


def said(text, partial=None):
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), partial=partial)


def called(name, args):
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name=name, args=args))]))


async def write_note(text: str, tool_context: ToolContext) -> dict:
    """Write a note."""
    version = await tool_context.save_artifact("note.txt", types.Part(text=text))
    tool_context.state["notes"] = version + 1
    return {"version": version}


def ask_manager(amount: int) -> dict:
    """Ask the manager."""
    return {"status": "pending"}


helper = LlmAgent(name="helper", model=Canned(model="canned"), description="Helps.", instruction="Help {who?}.")
root_agent = LlmAgent(
    name="desk",
    model=Canned(model="canned"),
    description="A desk.",
    instruction="Be brief.",
    tools=[write_note, LongRunningFunctionTool(ask_manager)],
    sub_agents=[helper],
)
app = App(name="desk", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
'''


def write_desk(folder: Path) -> Path:
    """Write the agent `desk` into a folder of agents, and return that folder."""
    (folder / "desk").mkdir(parents=True)
    (folder / "desk" / "__init__.py").write_text("from . import agent\n")
    (folder / "desk" / "agent.py").write_text(DESK)
    return folder
