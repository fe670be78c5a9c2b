"""The protocol's routes of a served agent. Loading this module loads the package a2a-sdk."""

from __future__ import annotations

from typing import Any

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore

from runtime.a2a.served_run import ServedRun
from runtime.agents.remote_a2a_agent import AGENT_CARD_WELL_KNOWN_PATH
from runtime.runners import Runner


def executor_of(runner: Runner) -> ServedRun:
    """Return what answers requests by running the agent.

    Args:
        runner: runs the agent.
    """
    return ServedRun(runner)


def made_for(card: Any, executor: Any, prefix: str, task_store: Any, push_config_store: Any) -> list[Any]:
    """Return the routes of the card and of the requests, also of clients of version 0.3 of the protocol.

    Args:
        card: an `a2a.types.AgentCard`.
        executor: answers requests.
        prefix: the path before the routes, such as `/planner`; empty for the root.
        task_store: keeps tasks; None for one in memory.
        push_config_store: keeps where clients want to be notified; None for one in memory.
    """
    handler = DefaultRequestHandler(
        agent_executor=executor,
        task_store=task_store or InMemoryTaskStore(),
        agent_card=card,
        push_config_store=push_config_store or InMemoryPushNotificationConfigStore(),
    )
    card_routes = create_agent_card_routes(card, card_url=prefix + AGENT_CARD_WELL_KNOWN_PATH)
    return [*card_routes, *create_jsonrpc_routes(handler, prefix or "/", enable_v0_3_compat=True)]
