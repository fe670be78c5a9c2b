"""A plugin that signs a session's function calls, so that no call runs that something else has written or changed."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runtime.events.marks import INTERNAL_METADATA_PREFIX, RESTORED, without_internal_metadata
from runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from google.genai import types

    from runtime.contexts.context import ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.events.event import Event
    from runtime.sessions.session import Session
    from runtime.tools.base_tool import BaseTool

logger = logging.getLogger(__name__)

# google-adk's key and form, so that a session can be continued on both.
_STAMPS = f"{INTERNAL_METADATA_PREFIX}fc_hmac"  # call id → stamp
_VERSION = "v1:"


class ToolCallIntegrityError(ValueError):
    """Raised for a function call whose stamp does not fit."""


class ToolCallIntegrityPlugin(BasePlugin):
    """Signs each function call when its event is stored, and lets a tool run only for a call whose signature fits.

    A resumed run executes calls that the session has stored: ones that were confirmed, or that a crash interrupted. Who can write to the
    session store but does not have the key cannot change these calls without being noticed. All calls are checked before a run, and each
    call again before its tool. Register the plugin before others, which must not change calls afterwards.

    Args:
        secret_key: the key, or several while keys are exchanged: the first one signs, and all are accepted.
        allow_unstamped_calls: let calls without a signature run, with a warning: those of the time before this plugin. A wrong signature
            is refused in any case.
        name: unique among an app's plugins.

    Raises:
        ValueError: there is no key, or one is empty or no bytes.
    """

    def __init__(
        self, secret_key: bytes | Sequence[bytes], *, allow_unstamped_calls: bool = False, name: str = "tool_call_integrity"
    ) -> None:
        super().__init__(name)
        self._keys = [secret_key] if isinstance(secret_key, bytes) else list(secret_key)
        if not self._keys or not all(isinstance(key, bytes) and key for key in self._keys):
            raise ValueError("secret_key needs at least one key, and each key at least one byte.")
        self._allow_unstamped = allow_unstamped_calls

    @staticmethod
    def prepare_restored_event(event: Event) -> Event:
        """Return a copy of an event for another session: its calls stay readable there, and are never executed.

        Args:
            event: the event. It is not changed.
        """
        copied = event.model_copy(deep=True)
        copied.custom_metadata = {**without_internal_metadata(copied.custom_metadata or {}), RESTORED: True}
        return copied

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Sign the event's calls."""
        calls = [call for call in event.get_function_calls() if call.id]
        ids = [call.id for call in calls]
        repeated = next((call_id for call_id in ids if ids.count(call_id) > 1), None)
        if repeated is not None and not event.partial:
            raise ToolCallIntegrityError(f"Event {event.id!r} has several calls with the id {repeated!r}.")
        if calls:
            session = invocation_context.session
            stamps = {call.id: f"{_VERSION}{_digest(self._keys[0], _signed(session, event, call))}" for call in calls}
            event.custom_metadata = {**(event.custom_metadata or {}), _STAMPS: stamps}
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Check all calls in the session."""
        for event in invocation_context.session.events:
            calls = event.get_function_calls()
            if not calls or _is_restored(event):  # a stamp alone executes nothing, and restored calls are refused at their tool
                continue
            stamps, checked = _stamps_of(event), set()
            for call in calls:
                if not call.id:
                    continue  # it has no stamp, and is refused at its tool
                if call.id in checked:
                    raise ToolCallIntegrityError(f"Event {event.id!r} has several calls with the id {call.id!r}.")
                if call.id in stamps:
                    self._check(invocation_context.session, event, call, stamps[call.id])
                    checked.add(call.id)
                else:
                    self._refuse_unstamped(call.name, call.id)
            if stamps.keys() - checked:
                raise ToolCallIntegrityError(
                    f"Event {event.id!r} has stamps of calls that it does not hold: {sorted(stamps.keys() - checked)}."
                )

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> None:
        """Check the call of this tool, and that the tool gets the call's arguments."""
        call_id, session = tool_context.function_call_id, tool_context.session
        if not call_id:
            raise ToolCallIntegrityError(f"The call of {tool.name} has no id, so it cannot be checked.")
        stored = [(event, call) for event in session.events for call in event.get_function_calls() if call.id == call_id]
        trusted = [(event, call) for event, call in stored if not _is_restored(event)]
        if not trusted:
            if stored:
                raise ToolCallIntegrityError(f"The call {call_id!r} of {tool.name} was restored from elsewhere and cannot be executed.")
            self._refuse_unstamped(tool.name, call_id)
            return
        for event, call in trusted:  # every copy, so that none borrows the stamp of another
            stamp = _stamps_of(event).get(call_id)
            if stamp is None:
                self._refuse_unstamped(tool.name, call_id)
            else:
                self._check(session, event, call, stamp)
        given = _canonical(_json_args(trusted[0][1].model_copy(update={"args": tool_args})))
        if not any(call.name == tool.name and _canonical(_json_args(call)) == given for _, call in trusted):
            raise ToolCallIntegrityError(f"The arguments of the call {call_id!r} of {tool.name} do not match its stored call.")

    def _check(self, session: Session, event: Event, call: types.FunctionCall, stamp: str) -> None:
        signed = _signed(session, event, call)
        if not any(hmac.compare_digest(_VERSION + _digest(key, signed), stamp) for key in self._keys):
            raise ToolCallIntegrityError(f"The call {call.id!r} of {call.name} does not match its integrity stamp: it was changed.")

    def _refuse_unstamped(self, name: str | None, call_id: str) -> None:
        said = f"The call {call_id!r} of {name} has no integrity stamp."
        if not self._allow_unstamped:
            raise ToolCallIntegrityError(said)
        logger.warning("%s", said)


def _digest(key: bytes, signed: bytes) -> str:
    return hmac.new(key, signed, hashlib.sha256).hexdigest()


def _signed(session: Session, event: Event, call: types.FunctionCall) -> bytes:
    """Return what a stamp covers, in google-adk's form."""
    names = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
    place = {"invocation_id": event.invocation_id, "branch": event.branch, "author": event.author}
    return _canonical({**names, **place, "name": call.name, "id": call.id, "args": _json_args(call)}).encode()


def _json_args(call: types.FunctionCall) -> dict[str, Any]:
    return call.model_dump(mode="json", include={"args"}).get("args") or {}


def _canonical(value: Any) -> str:
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _whole(value: Any) -> Any:
    """Return a value with whole numbers as `int`; some stores return 1 as 1.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value


def _is_restored(event: Event) -> bool:
    return bool((event.custom_metadata or {}).get(RESTORED))


def _stamps_of(event: Event) -> dict[str, str]:
    stamps = (event.custom_metadata or {}).get(_STAMPS) or {}
    if not isinstance(stamps, dict) or not all(isinstance(stamp, str) and stamp.isascii() for stamp in stamps.values()):
        raise ToolCallIntegrityError(f"The integrity stamps of event {event.id!r} cannot be read.")
    return stamps
