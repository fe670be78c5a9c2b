"""Agents served over A2A for tests: `python -m tests.a2a_server` prints the ports of its servers as JSON."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from typing import Any

import uvicorn
from a2a import types as a2a
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue

from runtime.a2a.utils.agent_to_a2a import to_a2a
from runtime.agents import LlmAgent
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm
from runtime.runners import Runner
from runtime.tools import LongRunningFunctionTool


def roll(sides: int) -> dict[str, int]:
    """Roll a die."""
    return {"rolled": min(sides, 4)}


def ask_for_approval(amount: int) -> dict[str, str]:
    """Ask the manager."""
    return {"status": "pending"}


def _what_it_knows(request: LlmRequest) -> str:
    return " | ".join(part.text for content in request.contents for part in content.parts or [] if part.text)


def shop() -> LlmAgent:
    rules = [
        Rule(when="^roll$", reply=Reply(calls=[("roll", {"sides": 6})])),
        Rule(when='"rolled"', reply="It is a 4."),
        Rule(when="^approve", reply=Reply(calls=[("ask_for_approval", {"amount": 200})])),
        Rule(when="approved", reply="The manager agrees."),
        Rule(when="^quota", reply=Reply(error=("QUOTA", "No quota is left."))),
        Rule(when="^break", reply=ValueError("The shop is broken.")),
        Rule(reply=_what_it_knows),
    ]
    tools = [roll, LongRunningFunctionTool(ask_for_approval)]
    return LlmAgent(
        name="shop",
        description="Sells dice.",
        instruction="A secret.",
        model=ScriptedLlm(rules=rules),
        tools=tools,
    )


class Asking(AgentExecutor):
    """Not of google-adk: asks for a city in words, then answers."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        said = " ".join(part.text for part in context.message.parts)
        place = {"task_id": context.task_id, "context_id": context.context_id}
        if context.current_task is None:
            submitted, history = a2a.TaskStatus(state="TASK_STATE_SUBMITTED"), [context.message]
            await event_queue.enqueue_event(a2a.Task(id=context.task_id, context_id=context.context_id, status=submitted, history=history))
            state, text = "TASK_STATE_INPUT_REQUIRED", "Which city?"
        else:
            state, text = "TASK_STATE_COMPLETED", f"It rains in {said}."
        status = a2a.TaskStatus(state=state, message=a2a.Message(message_id="1", role="ROLE_AGENT", parts=[a2a.Part(text=text)]))
        await event_queue.enqueue_event(a2a.TaskStatusUpdateEvent(**place, status=status))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def asking(runner: Runner) -> Asking:
    return Asking()


async def main() -> None:
    apps: list[tuple[str, Any]] = [("shop", {}), ("below", {"rpc_path": "/agents/shop/"}), ("asking", {"agent_executor_factory": asking})]
    ports, serving = {}, []
    for name, more in apps:
        listening = socket.create_server(("127.0.0.1", 0))
        ports[name] = listening.getsockname()[1]
        app = to_a2a(shop(), host="127.0.0.1", port=ports[name], **more)
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        serving.append(server.serve(sockets=[listening]))
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    await asyncio.gather(*serving)


if __name__ == "__main__":
    asyncio.run(main())
