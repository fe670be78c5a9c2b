"""The bytes of a request's body, read within limits of size and time."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from runtime.errors import KnownError


class UnreadBodyError(KnownError):
    """A request's body was not read to its end; the message says why.

    Attributes:
        status: the HTTP status of the response.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


async def body_bytes(request: Request, longest: int, seconds: float) -> bytes:
    """Return a request's body.

    Args:
        request: the request.
        longest: bytes of the longest body.
        seconds: from its first byte to its last.

    Raises:
        UnreadBodyError: it is longer or slower, or the client has disconnected.
    """
    found = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                found += piece
                if len(found) > longest:
                    raise UnreadBodyError(413, f"The body is longer than {longest} bytes.")
    except TimeoutError:
        raise UnreadBodyError(408, f"The body did not arrive within {seconds} s.") from None
    except ClientDisconnect:
        raise UnreadBodyError(400, "The client disconnected before it had sent the body.") from None
    return bytes(found)
