"""The context passed to tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_tool import AuthConfig, as_auth_config
from runtime.contexts.callback_context import CallbackContext
from runtime.events.event_actions import EventActions
from runtime.events.tool_confirmation import ToolConfirmation
from runtime.sessions.state import State
from runtime.support.json_value import as_json

if TYPE_CHECKING:
    from runtime.contexts.invocation_context import InvocationContext


class ToolContext(CallbackContext):
    """Access to a running invocation for one tool call; changes are recorded in the function response's event.

    Args:
        invocation_context: the invocation.
        function_call_id: the call's id; unchanged when the call is run again after a crash, so that it can serve as an idempotency key.
        event_actions: the actions that record the changes; committed with the function response's event.
        tool_confirmation: the user's answer, if a confirmation was requested and given.
        auth_answer: the user's credential, if one was requested and given.
    """

    def __init__(
        self,
        invocation_context: InvocationContext,
        *,
        function_call_id: str | None = None,
        event_actions: EventActions | None = None,
        tool_confirmation: ToolConfirmation | None = None,
        auth_answer: AuthConfig | None = None,
    ) -> None:
        super().__init__(invocation_context, event_actions=event_actions)
        self.function_call_id = function_call_id
        self.tool_confirmation = tool_confirmation
        self._auth_answer = auth_answer

    def request_confirmation(self, *, hint: str | None = None, payload: Any | None = None) -> None:
        """Ask the user to confirm this call; the tool's present result is only a placeholder.

        Args:
            hint: the question.
            payload: data for the user to fill in, JSON.

        Raises:
            ValueError: the call has no id.
        """
        self.actions.requested_tool_confirmations[self._call_id()] = ToolConfirmation(hint=hint or "", payload=as_json(payload))

    def request_credential(self, auth_config: Any) -> None:
        """Ask the user for a credential; the tool's present result is only a placeholder, and the call is run again with the answer.

        Args:
            auth_config: the request, as an `AuthConfig` or its JSON object. Client secrets are left out of the request.

        Raises:
            ValueError: the call has no id, or `auth_config` has no scheme.
        """
        self.actions.requested_auth_configs[self._call_id()] = as_auth_config(auth_config).without_secrets()

    def get_auth_response(self, auth_config: Any) -> AuthCredential | None:
        """Return the credential that the user gave to this call or to an earlier call of this invocation.

        Nothing is exchanged: an OAuth2 answer contains the token or code as it was given.

        Args:
            auth_config: the request.
        """
        asked = as_auth_config(auth_config)
        key = f"{State.TEMP_PREFIX}{asked.credential_key}"
        if self._auth_answer is not None and asked.is_answered_by(self._auth_answer):
            self.state[key] = self._auth_answer.exchanged_auth_credential
        credential: AuthCredential | None = self.state.get(key)
        return credential

    def _call_id(self) -> str:
        if not self.function_call_id:
            raise ValueError("This tool call has no function_call_id, so its request could not be answered.")
        return self.function_call_id
