"""Responses made from a run's events: one JSON list at the end, or server-sent events (google-adk's `/run` and `/run_sse`)."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import aclosing
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from inspector_app.engines.adk_worker.errors import formatted
from inspector_app.server.json_shapes import event_json
from inspector_app.server.runs import Run
from runtime.events.event import Event
from runtime.support.texts import error_text, text_of

STOPPED = "The run was stopped because the server is shutting down. In a resumable app the invocation can be resumed."


class _OwnResponse(Response):
    """A response that sends itself, in place of a body that is known beforehand."""

    background = None  # what FastAPI asks of each response


class WholeRun(_OwnResponse):
    """All events of a run, sent when it is over; 500 if it failed (committed events stay in the session).

    Args:
        run: a run that has begun and has no other reader.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the agent and send the response."""
        await self._run.answer(self._answer(scope, receive, send), receive)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        found: list[dict[str, Any]] = []
        try:
            async with aclosing(self._run.events) as events:
                async for event in events:
                    found.append(event_json(event))
        except asyncio.CancelledError:
            await JSONResponse({"detail": STOPPED}, 503)(scope, receive, send)
            raise
        except Exception as error:
            _show(error)
            await JSONResponse({"detail": error_text(error)}, 500)(scope, receive, send)
            return
        await JSONResponse(found)(scope, receive, send)


class EventStream(_OwnResponse):
    """The events of a run, sent as they are committed; a failure is the last one, in google-adk's form.

    The agent resumes when the client has received the previous event.

    Args:
        run: a run that has begun and has no other reader.
        splits_artifacts: whether an event that has both content and new files is sent as two, as google-adk's page expects it.
    """

    def __init__(self, run: Run, *, splits_artifacts: bool = True) -> None:
        self._run = run
        self._splits_artifacts = splits_artifacts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the agent and send its events."""
        await self._run.answer(self._answer(send), receive)

    async def _answer(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            async with aclosing(self._run.events) as events:
                async for event in events:
                    for sent in _split(event) if self._splits_artifacts else [event]:
                        await _send_line(send, json.dumps(event_json(sent), ensure_ascii=False, separators=(",", ":")))
        except asyncio.CancelledError:
            await _send_line(send, json.dumps({"error": STOPPED}), more=False)
            raise
        except Exception as error:
            _show(error)
            details = {"error_type": type(error).__name__, "error_message": text_of(error), "timestamp": time.time()}
            await _send_line(send, json.dumps({"error": error_text(error), "error_details": details}))
        await send({"type": "http.response.body", "body": b""})


def _split(event: Event) -> list[Event]:
    """Return an event without its new files, and one with nothing but them; the event itself if it has not both."""
    if not event.actions.artifact_delta or not (event.content and event.content.parts):
        return [event]
    without_files = event.actions.model_copy(update={"artifact_delta": {}})
    return [event.model_copy(update={"actions": without_files}), event.model_copy(update={"content": None})]


async def _send_line(send: Send, text: str, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": f"data: {text}\n\n".encode(), "more_body": more})


def _show(error: Exception) -> None:
    """Print the traceback of an agent's failure on the server's stderr."""
    sys.stderr.write(formatted(error, error.__traceback__))
