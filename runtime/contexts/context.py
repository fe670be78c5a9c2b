"""The context passed to callbacks and tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_tool import AuthConfig, as_auth_config
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.errors.known_error import KnownError
from runtime.events.event_actions import EventActions
from runtime.events.marks import CREDENTIAL_CALL
from runtime.events.tool_confirmation import ToolConfirmation
from runtime.events.ui_widget import UiWidget
from runtime.sessions.state import State
from runtime.support.json_value import as_json

if TYPE_CHECKING:
    from runtime.artifacts.base_artifact_service import ArtifactVersion
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.events.event import Event
    from runtime.memory.memory_entry import MemoryEntry


class ServiceMissingError(KnownError, ValueError):
    """Raised when the Runner was created without the required service."""


class Context(ReadonlyContext):
    """Access to a running invocation for a callback or a tool call; changes are recorded in its event.

    google-adk 1.x has two classes, `CallbackContext` and `ToolContext`; both names stay. Methods that need a service which the
    Runner does not have raise `ServiceMissingError`.

    Args:
        invocation_context: the invocation.
        event_actions: the actions that record the changes; committed with the callback's or function response's event.
        function_call_id: the tool call's id; unchanged when the call is run again after a crash, so that it can serve as an idempotency
            key. None for a callback that belongs to no call.
        tool_confirmation: the user's answer, if the call requested a confirmation and it was given.
        auth_answer: the user's credential, if the call requested one and it was given.
    """

    def __init__(
        self,
        invocation_context: InvocationContext,
        *,
        event_actions: EventActions | None = None,
        function_call_id: str | None = None,
        tool_confirmation: ToolConfirmation | None = None,
        auth_answer: AuthConfig | None = None,
    ) -> None:
        super().__init__(invocation_context)
        self._event_actions = event_actions
        self._state: State | None = None
        self.function_call_id = function_call_id
        self.tool_confirmation = tool_confirmation
        self._auth_answer = auth_answer
        self.inner_pause: Any = None  # the `InnerPause` of an agent that runs in this call; only `tools` and `flows` know its type

    @property
    def branch(self) -> str | None:
        """The branch of the agent that is running."""
        return self._invocation_context.branch

    def get_invocation_context(self) -> InvocationContext:
        """Return the invocation's context."""
        return self._invocation_context

    @property
    def custom_metadata(self) -> dict[str, Any]:
        """Data that callbacks and tools hand on during this run; it begins with `RunConfig.custom_metadata` and is not stored."""
        return self._invocation_context.shared.custom_metadata

    @property
    def state(self) -> State:  # type: ignore[override]  # writable, unlike the base class
        """The state of all scopes; writes are tracked, also into lists and dicts read here, and committed with the next event."""
        delta = self._made_actions().state_delta
        if self._state is None or self._state.delta is not delta:
            context = self._invocation_context
            self._state = State(context.session.state, delta, getattr(context.agent, "state_schema", None), writes=context.writes)
        return self._state

    @property
    def actions(self) -> EventActions:
        """The actions of this callback's or tool call's event."""
        if self._state is not None:
            self._state.record_changes()
        return self._made_actions()

    def _made_actions(self) -> EventActions:
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
        """
        service, names = self._artifacts()
        version: int = await service.save_artifact(**names, filename=filename, artifact=artifact, custom_metadata=custom_metadata)
        self.actions.artifact_delta[filename] = version
        return version

    async def get_artifact_version(self, filename: str, version: int | None = None) -> ArtifactVersion | None:
        """Return the metadata of a file's version.

        Args:
            filename: the file's name; `user:` names are shared by the user's sessions.
            version: the version, from 0; the newest if None.

        Returns:
            Its number, time, media type and custom metadata; None if it does not exist.
        """
        service, names = self._artifacts()
        found: ArtifactVersion | None = await service.get_artifact_version(**names, filename=filename, version=version)
        return found

    async def list_artifacts(self) -> list[str]:
        """Return the names of the files visible in this session."""
        service, names = self._artifacts()
        keys: list[str] = await service.list_artifact_keys(**names)
        return keys

    async def search_memory(self, query: str) -> Any:
        """Search this user's memories.

        Returns:
            The memory service's response, best match first.
        """
        ctx = self._invocation_context
        return await self._memory("").search_memory(app_name=ctx.app_name, user_id=ctx.user_id, query=query)

    async def load_credential(self, auth_config: AuthConfig) -> AuthCredential | None:
        """Return a credential from the credential service; None if there is none."""
        found: AuthCredential | None = await self._credentials().load_credential(auth_config, self)
        return found

    async def save_credential(self, auth_config: AuthConfig) -> None:
        """Keep a credential in the credential service.

        Args:
            auth_config: the request with its answer.
        """
        await self._credentials().save_credential(auth_config, self)

    async def add_session_to_memory(self) -> None:
        """Store this session in the memory service."""
        await self._memory("Cannot add session to memory: ").add_session_to_memory(self._invocation_context.session)

    async def add_events_to_memory(self, *, events: Sequence[Event], custom_metadata: Mapping[str, object] | None = None) -> None:
        """Store events of this session in the memory service.

        Args:
            events: the events, such as those of the last turn.
            custom_metadata: additional data for the service.

        Raises:
            NotImplementedError: the service accepts whole sessions only.
        """
        memory, session_id = self._memory("Cannot add events to memory: "), self._invocation_context.session.id
        await memory.add_events_to_memory(**self._user(), session_id=session_id, events=events, custom_metadata=custom_metadata)

    async def delete_memory(self, memory_id: str | None = None) -> None:
        """Delete one of the user's memories.

        Args:
            memory_id: `MemoryEntry.id`, as `search_memory` returns it.

        Raises:
            NotImplementedError: the service cannot delete single memories.
        """
        await self._memory("Cannot delete memory: ").delete_memory(**self._user(), memory_id=memory_id)

    async def add_memory(self, *, memories: Sequence[MemoryEntry], custom_metadata: Mapping[str, object] | None = None) -> None:
        """Store memories that are not events.

        Args:
            memories: what to remember about this user.
            custom_metadata: additional data for the service.

        Raises:
            NotImplementedError: the service accepts only sessions or events.
        """
        await self._memory("Cannot add memory: ").add_memory(**self._user(), memories=memories, custom_metadata=custom_metadata)

    def render_ui_widget(self, ui_widget: UiWidget) -> None:
        """Ask a web interface to render something with this event.

        Raises:
            ValueError: the event has a widget of that id.
        """
        actions = self.actions
        widgets = actions.render_ui_widgets or []
        if any(widget.id == ui_widget.id for widget in widgets):
            raise ValueError(f"A UI widget with ID {ui_widget.id!r} already exists in this event.")
        actions.render_ui_widgets = [*widgets, ui_widget]

    def request_confirmation(self, *, hint: str | None = None, payload: Any | None = None) -> None:
        """Ask the user to confirm this call; the tool's present result is only a placeholder.

        Args:
            hint: the question.
            payload: data for the user to fill in, JSON.

        Raises:
            ValueError: this is no tool call's context.
        """
        self.actions.requested_tool_confirmations[self._call_id("request_confirmation")] = ToolConfirmation(
            hint=hint or "", payload=as_json(payload)
        )

    def request_credential(self, auth_config: Any) -> None:
        """Ask the user for a credential; the tool's present result is only a placeholder, and the call is run again with the answer.

        Args:
            auth_config: the request, as an `AuthConfig` or its JSON object. Client secrets are left out of the request.

        Raises:
            ValueError: this is no tool call's context, or `auth_config` has no scheme.
        """
        self.actions.requested_auth_configs[self._call_id("request_credential")] = as_auth_config(auth_config).without_secrets()

    def committed_auth_request(self) -> AuthConfig | None:
        """Return this call's committed request for a credential, with what it sent the user to; None if it has made none."""
        for event in reversed(self._invocation_context.session.events):
            for call in event.get_function_calls():
                args = call.args or {}
                if call.name == CREDENTIAL_CALL and args.get("functionCallId") == self.function_call_id and "authConfig" in args:
                    return as_auth_config(args["authConfig"])
        return None

    def get_auth_response(self, auth_config: Any) -> AuthCredential | None:
        """Return the credential that the user gave to this call, to an earlier call of this invocation or to the tool's toolset.

        Nothing is exchanged here: an OAuth2 answer to a call contains the token or code as it was given.
        """
        asked = as_auth_config(auth_config)
        key = f"{State.TEMP_PREFIX}{asked.credential_key}"
        if self._auth_answer is not None and asked.is_answered_by(self._auth_answer):
            self.state[key] = self._auth_answer.exchanged_auth_credential
        credential: AuthCredential | None = self.state.get(key)
        return credential or self._invocation_context.shared.credentials.get(asked.credential_key)

    def _call_id(self, asking: str) -> str:
        if not self.function_call_id:
            raise ValueError(f"{asking} requires function_call_id, which only the context of a tool call has.")
        return self.function_call_id

    def _user(self) -> dict[str, str]:
        session = self._invocation_context.session
        return {"app_name": session.app_name, "user_id": session.user_id}

    def _artifacts(self) -> tuple[Any, dict[str, str]]:
        service = self._invocation_context.artifact_service
        if service is None:
            raise ServiceMissingError("Artifact service is not initialized. Give the Runner one: Runner(…, artifact_service=…).")
        ctx = self._invocation_context  # where google-adk reads the names too: tests of agents replace it
        return service, {"app_name": ctx.app_name, "user_id": ctx.user_id, "session_id": ctx.session.id}

    def _memory(self, failing: str) -> Any:
        service = self._invocation_context.memory_service
        if service is None:
            problem = "memory service is not available." if failing else "Memory service is not available."
            raise ServiceMissingError(f"{failing}{problem} Give the Runner one: Runner(…, memory_service=…).")
        return service

    def _credentials(self) -> Any:
        service = self._invocation_context.credential_service
        if service is None:
            raise ServiceMissingError("Credential service is not initialized; give the Runner one: Runner(…, credential_service=…).")
        return service


CallbackContext = Context
ToolContext = Context
