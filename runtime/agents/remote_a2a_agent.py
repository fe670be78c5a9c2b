"""An agent on another server, asked over the protocol A2A."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from runtime.agents.base_agent import BaseAgent
from runtime.contexts.invocation_context import InvocationContext
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.errors.missing_package_error import MissingPackageError, require
from runtime.events.event import Event
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    import httpx

    from runtime.agents import a2a_conversation
else:
    a2a_conversation = lazy_module("runtime.agents.a2a_conversation")

__all__ = ["AGENT_CARD_WELL_KNOWN_PATH", "A2AClientError", "AgentCardResolutionError", "RemoteA2aAgent"]

A2A_METADATA_PREFIX = "a2a:"
AGENT_CARD_WELL_KNOWN_PATH = "/.well-known/agent-card.json"
DEFAULT_TIMEOUT = 600.0  # seconds

_OF_THE_ENGINE = {"config": None, "use_legacy": True, "auth_scheme": None, "auth_credential": None, "credential_key": None, "mode": None}


class AgentCardResolutionError(Exception):
    """google-adk's error for a card that cannot be read. Here an event has the error's message instead."""


class A2AClientError(Exception):
    """google-adk's error for a remote agent that cannot be asked. Here an event has the error's message instead."""


class RemoteA2aAgent(BaseAgent):
    """An agent on another server. It receives the events since its last answer, and its answers are this agent's events.

    The package a2a-sdk is needed when the agent runs. What goes wrong is an event with an error message.

    Args:
        name: an identifier, unique in the tree.
        agent_card: the server's description of the agent: a URL or a file, read on the first call, or an `a2a.types.AgentCard`. A card
            from a URL must name the same server, at https:// or on this machine.
        description: the agent's purpose; that of a given card if it is empty.
        httpx_client: the HTTP client to use; it is not closed.
        timeout: longest time to wait for the next part of an answer, in seconds.
        genai_part_converter: makes an `a2a.types.Part`, or a list of them, from a part of a content.
        a2a_part_converter: makes a part of a content, or a list of them, from an `a2a.types.Part`.
        a2a_client_factory: makes the client, instead of httpx_client.
        a2a_request_meta_provider: makes a request's metadata from the invocation and the message.
        full_history_when_stateless: send all events each time if the remote agent keeps no context.
        context_builder: makes the parts of a message and its context id from the invocation, the agent's name and the converter of parts.
        kwargs: what every agent has.

    Raises:
        EngineNeededError: an argument needs the google-adk engine: config, use_legacy=False, auth_scheme, or mode.
        TypeError, ValueError: the card is no card and no text, or an empty text.
    """

    _conversation: Any = PrivateAttr(default=None)
    _settings: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(
        self,
        name: str,
        agent_card: Any,
        *,
        description: str = "",
        httpx_client: httpx.AsyncClient | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        genai_part_converter: Callable[..., Any] | None = None,
        a2a_part_converter: Callable[..., Any] | None = None,
        a2a_client_factory: Any = None,
        a2a_request_meta_provider: Callable[..., dict[str, Any]] | None = None,
        full_history_when_stateless: bool = False,
        context_builder: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        for other, usual in _OF_THE_ENGINE.items():
            if kwargs.pop(other, usual) != usual:
                raise EngineNeededError(f"{other}= of a RemoteA2aAgent")
        source, card = _source_and_card(agent_card)
        super().__init__(name=name, description=description or getattr(card, "description", ""), **kwargs)
        self._settings = {
            "source": source,
            "card": card,
            "timeout": timeout,
            "http": httpx_client,
            "factory": a2a_client_factory,
            "write_part": genai_part_converter,
            "read_part": a2a_part_converter,
            "metadata_of": a2a_request_meta_provider,
            "full_history": full_history_when_stateless,
            "context_builder": context_builder,
        }

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            require("a2a", "a2a", "Remote A2A agents", oldest="1", distribution="a2a-sdk")
        except MissingPackageError as error:
            yield Event(author=self.name, invocation_id=ctx.invocation_id, branch=ctx.branch, error_message=str(error))
            return
        if self._conversation is None or self._conversation.name != self.name:  # a clone may have another name
            self._conversation = await run_in_thread(self._new_conversation)  # the package takes half a second to load
        async with aclosing(self._conversation.ask(ctx)) as events:
            async for event in events:
                yield event

    def _new_conversation(self) -> a2a_conversation.Conversation:
        return a2a_conversation.Conversation(name=self.name, **self._settings)

    async def cleanup(self) -> None:
        """Do nothing: each call closes its own connection. For programs that call it, as google-adk's must be."""


def _source_and_card(agent_card: Any) -> tuple[str | None, Any]:
    if isinstance(agent_card, str):
        if not agent_card.strip():
            raise ValueError("agent_card is empty. Give a card's URL or file.")
        return agent_card.strip(), None
    if agent_card is None:
        raise ValueError("agent_card is None. Give a card, or its URL or file.")
    if not hasattr(agent_card, "supported_interfaces"):
        raise TypeError(
            f"agent_card is a card of the package a2a-sdk 1 or newer, or a card's URL or file, not {type(agent_card).__name__}."
        )
    return None, agent_card
