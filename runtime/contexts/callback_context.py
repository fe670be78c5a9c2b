"""The context passed to callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.contexts.readonly_context import ReadonlyContext
from runtime.errors.known_error import KnownError
from runtime.events.event_actions import EventActions
from runtime.sessions.state import State

if TYPE_CHECKING:
    from runtime.contexts.invocation_context import InvocationContext


class ServiceMissingError(KnownError, ValueError):
    """Raised when the Runner was created without the required service."""


class CallbackContext(ReadonlyContext):
    """Access to a running invocation; changes are recorded in the callback's event.

    Args:
        invocation_context: the invocation.
        event_actions: the actions that record the changes; committed with the callback's event.
    """

    def __init__(self, invocation_context: InvocationContext, *, event_actions: EventActions | None = None) -> None:
        super().__init__(invocation_context)
        self._event_actions = event_actions

    @property
    def state(self) -> State:  # type: ignore[override]  # writable, unlike the base class
        """The state of all scopes; writes are tracked and committed with the next event."""
        return State(self._invocation_context.session.state, self.actions.state_delta)

    @property
    def actions(self) -> EventActions:
        """The actions of this callback's or tool call's event."""
        if self._event_actions is None:
            self._event_actions = EventActions()
        return self._event_actions

    async def load_artifact(self, filename: str, version: int | None = None) -> types.Part | None:
        """Return a saved file.

        Args:
            filename: the file's name; `user:` names are shared by the user's sessions.
            version: the version, from 0; the newest if None.

        Returns:
            The file as a part with text or bytes; None if it does not exist.

        Raises:
            ServiceMissingError: the Runner has no artifact service.
        """
        service, names = self._artifacts()
        part: types.Part | None = await service.load_artifact(**names, filename=filename, version=version)
        return part

    async def save_artifact(self, filename: str, artifact: types.Part, custom_metadata: dict[str, Any] | None = None) -> int:
        """Save a file immediately; the next event's `artifact_delta` records the version.

        Args:
            filename: the file's name; `user:` names are shared by the user's sessions.
            artifact: a part with text or bytes.
            custom_metadata: JSON values to keep with this version.

        Returns:
            The new version, from 0.

        Raises:
            ServiceMissingError: the Runner has no artifact service.
        """
        service, names = self._artifacts()
        more = {"custom_metadata": custom_metadata} if custom_metadata is not None else {}
        version: int = await service.save_artifact(**names, filename=filename, artifact=artifact, **more)
        self.actions.artifact_delta[filename] = version
        return version

    async def list_artifacts(self) -> list[str]:
        """Return the names of the files visible in this session.

        Raises:
            ServiceMissingError: the Runner has no artifact service.
        """
        service, names = self._artifacts()
        keys: list[str] = await service.list_artifact_keys(**names)
        return keys

    async def search_memory(self, query: str) -> Any:
        """Search this user's memories.

        Args:
            query: the text to search for.

        Returns:
            The memory service's response, best match first.

        Raises:
            ServiceMissingError: the Runner has no memory service.
        """
        session = self._invocation_context.session
        return await self._memory().search_memory(app_name=session.app_name, user_id=session.user_id, query=query)

    async def add_session_to_memory(self) -> None:
        """Store this session in the memory service.

        Raises:
            ServiceMissingError: the Runner has no memory service.
        """
        await self._memory().add_session_to_memory(self._invocation_context.session)

    def _artifacts(self) -> tuple[Any, dict[str, str]]:
        service = self._invocation_context.artifact_service
        if service is None:
            raise ServiceMissingError("This Runner has no artifact service; give it one: Runner(…, artifact_service=…).")
        session = self._invocation_context.session
        return service, {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}

    def _memory(self) -> Any:
        service = self._invocation_context.memory_service
        if service is None:
            raise ServiceMissingError("This Runner has no memory service; give it one: Runner(…, memory_service=…).")
        return service
