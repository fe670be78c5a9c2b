"""One message to a remote A2A agent and its answer. Loading this module loads the package a2a-sdk."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx
from a2a import types as a2a
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver, parse_agent_card
from a2a.utils.constants import TransportProtocol

from runtime.agents.a2a_events import PREFIX, UNANSWERED, Answers
from runtime.agents.a2a_requests import Requests
from runtime.contexts.invocation_context import InvocationContext
from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.support.a2a_messages import as_json, as_struct, to_a2a_part, to_genai_part
from runtime.support.bounded import parse, read_file

_BINDINGS: list[str] = [TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value]
_PORTS = {"http": 80, "https": 443}


class RemoteAgentError(KnownError):
    """A remote agent cannot be asked, or did not answer; the message says why.

    Args:
        message: the sentence.
        status_code: the HTTP status that the server answered with, if any.
    """

    def __init__(self, message: str, status_code: int | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code


@dataclass
class Conversation:
    """Asks a remote agent. The card is read on the first call; each call has its own connection.

    Attributes:
        name: the agent here.
        source: the card's URL or file; None if the card was given.
        card: the card, once it is known.
        timeout: seconds to wait for an answer's next part.
        http: the program's HTTP client; None for one of its own for each call.
        factory: the program's maker of clients; None for the default one.
        write_part, read_part: the program's converters of parts; None for the default ones.
        metadata_of: makes the metadata of a request from the invocation and the message.
        full_history, context_builder: see `Requests`.
    """

    name: str
    source: str | None
    card: Any
    timeout: float
    http: httpx.AsyncClient | None = None
    factory: Any = None
    write_part: Callable[..., Any] | None = None
    read_part: Callable[..., Any] | None = None
    metadata_of: Callable[..., dict[str, Any]] | None = None
    full_history: bool = False
    context_builder: Callable[..., Any] | None = None

    async def ask(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """Send the new events, and yield the answer's events. What goes wrong is an event with an error message.

        Args:
            ctx: the invocation.
        """
        message = None
        try:
            async with self._client() as client:
                message = self._requests().next_message(ctx)
                if message is None:
                    yield self._error(ctx, f"No event has anything for the remote agent {self.name}.", None)
                    return
                answers = Answers(self.name, ctx, self.read_part or to_genai_part)
                async with aclosing(_items(client, self._request(ctx, message), self.name)) as items:
                    async for item in items:
                        event = answers.read(item)
                        if event is not None:
                            assert event.custom_metadata is not None  # from `read`
                            event.custom_metadata[f"{PREFIX}request"] = as_json(message)
                            yield event
                if answers.task is not None and answers.task.status.state in UNANSWERED:
                    yield self._error(ctx, f"The answer of the remote agent {self.name} ended before its task was done.", message)
        except RemoteAgentError as error:
            marks = {f"{PREFIX}error": str(error), f"{PREFIX}status_code": str(error.status_code)}
            yield self._error(ctx, str(error), message, marks if message is not None else {})

    def _requests(self) -> Requests:
        return Requests(self.name, self.write_part or to_a2a_part, self.full_history, self.context_builder)

    def _request(self, ctx: InvocationContext, message: Any) -> Any:
        metadata = self.metadata_of(ctx, message) if self.metadata_of else None
        return a2a.SendMessageRequest(message=message, metadata=as_struct(metadata) if metadata else None)

    def _error(self, ctx: InvocationContext, text: str, message: Any, marks: dict[str, Any] | None = None) -> Event:
        found = {**(marks or {}), **({f"{PREFIX}request": as_json(message)} if message is not None else {})}
        return Event(
            author=self.name, invocation_id=ctx.invocation_id, branch=ctx.branch, error_message=text, custom_metadata=found or None
        )

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Any]:
        given = self.http or getattr(getattr(self.factory, "_config", None), "httpx_client", None)
        http = given or httpx.AsyncClient(timeout=self.timeout)
        try:
            if self.card is None:
                self.card = await self._read_card(http)
            factory = self.factory or ClientFactory(ClientConfig(httpx_client=http, supported_protocol_bindings=_BINDINGS))
            try:
                client = factory.create(self.card)
            except ValueError as error:
                raise RemoteAgentError(f"The remote agent {self.name} cannot be asked: {error}") from error
            try:
                yield client
            finally:
                await client.close()
        finally:
            if given is None:
                await http.aclose()

    async def _read_card(self, http: httpx.AsyncClient) -> Any:
        assert self.source is not None  # or there is a card
        if not self.source.startswith(("http://", "https://")):
            return _card_of_file(self.source, self.name)
        url = urlsplit(self.source)
        _check_is_safe(url, f"The card of the remote agent {self.name}")
        try:
            resolver = A2ACardResolver(http, f"{url.scheme}://{url.netloc}")
            card = await resolver.get_agent_card(relative_card_path=url.path)
        except Exception as error:  # the package's own, for any answer of a server
            status = getattr(error, "status_code", None)
            raise RemoteAgentError(
                f"The card of the remote agent {self.name} could not be read from {self.source}: {_sentence(error)}", status
            ) from error
        _check_targets(card, url, self.name)
        return card


async def _items(client: Any, request: Any, name: str) -> AsyncGenerator[Any, None]:
    """Yield what the server sends.

    Raises:
        RemoteAgentError: the server sent an error or nothing readable, or the connection ended.
    """
    stream = client.send_message(request)
    try:
        while True:
            try:
                item = await anext(stream)
            except StopAsyncIteration:
                return
            except Exception as error:  # the package's own, for any answer of a server
                status = getattr(error, "status_code", None)
                raise RemoteAgentError(f"The remote agent {name} could not be asked: {_sentence(error)}", status) from error
            yield item
    finally:
        await stream.aclose()


def _sentence(error: Exception) -> str:
    return str(error).strip() or type(error).__name__


def _card_of_file(path: str, name: str) -> Any:
    try:
        return parse_agent_card(parse(read_file(Path(path))))
    except OSError as error:
        raise RemoteAgentError(f"The card of the remote agent {name}, {path}, cannot be read: {error.strerror}.") from error
    except Exception as error:  # of the package: it has no class for what a card can lack
        raise RemoteAgentError(f"{path} is no card of a remote agent: {_sentence(error)}") from error


def _check_targets(card: Any, source: SplitResult, name: str) -> None:
    """Check that a card from the network names its own server: another one must not receive this session."""
    if not card.supported_interfaces:
        raise RemoteAgentError(f"The card of the remote agent {name} names no URL to send messages to.")
    for interface in card.supported_interfaces:
        url = urlsplit(interface.url)
        _check_is_safe(url, f"The remote agent {name}")
        if _origin(url) != _origin(source):
            raise RemoteAgentError(
                f"The card of the remote agent {name} is at {source.scheme}://{source.netloc} and names another server, {interface.url}."
            )


def _check_is_safe(url: SplitResult, what: str) -> None:
    if url.scheme != "https" and not (url.scheme == "http" and _is_loopback(url.hostname or "")):
        raise RemoteAgentError(f"{what} must be at an https:// URL, or at http:// on this machine: {url.geturl()}")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    try:
        return url.scheme, url.hostname, url.port or _PORTS.get(url.scheme)
    except ValueError as error:
        raise RemoteAgentError(f"{url.geturl()} is no URL: {error}.") from error
