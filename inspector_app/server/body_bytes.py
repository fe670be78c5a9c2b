"""The bytes of a request's body, read within limits of size and time."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from runtime.errors import KnownError

LONGEST_BODY = 32 * 2**20  # bytes, also after decompression; a message may contain pictures, and exporters send some hundred spans at once
SECONDS_FOR_A_BODY = 30  # from its first byte to its last; on one machine, the largest takes less than one


class UnreadBodyError(KnownError):
    """A request's body was not read to its end; the message says why.

    Attributes:
        status: the HTTP status of the response.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


async def body_bytes(request: Request) -> bytes:
    """Return a request's body.

    Raises:
        UnreadBodyError: it is longer or slower, or the client has disconnected.
    """
    found = bytearray()
    try:
        async with asyncio.timeout(SECONDS_FOR_A_BODY):
            async for piece in request.stream():
                found += piece
                if len(found) > LONGEST_BODY:
                    raise UnreadBodyError(413, f"The body is longer than {LONGEST_BODY} bytes.")
    except TimeoutError:
        raise UnreadBodyError(408, f"The body did not arrive within {SECONDS_FOR_A_BODY} s.") from None
    except ClientDisconnect:
        raise UnreadBodyError(400, "The client disconnected before it had sent the body.") from None
    return bytes(found)
