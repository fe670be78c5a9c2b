"""What a tool sees and changes."""

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
    """Tracked access to a running invocation, for one tool call.

    Args:
        invocation_context: the invocation.
        function_call_id: the call's id; the same when the call is run again after a crash, so that it can serve as an idempotency key.
        event_actions: where changes are written; the function response's event carries them.
        tool_confirmation: a person's answer, if one was asked for and is given.
        auth_answer: the credential a person gave, if one was asked for.
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
        """Ask a person before this call goes on; what the tool returns now is only a placeholder.

        Args:
            hint: the question.
            payload: what the person may fill in, JSON.

        Raises:
            ValueError: the call has no id to answer to.
        """
        self.actions.requested_tool_confirmations[self._call_id()] = ToolConfirmation(hint=hint or "", payload=as_json(payload))

    def request_credential(self, auth_config: Any) -> None:
        """Ask a person for a credential; what the tool returns now is only a placeholder, and the call is made again with the answer.

        Args:
            auth_config: what is asked for, as an AuthConfig or a JSON object of its form. A client's secret is left out of the request.

        Raises:
            ValueError: the call has no id to answer to, or `auth_config` has no scheme.
        """
        self.actions.requested_auth_configs[self._call_id()] = as_auth_config(auth_config).without_secrets()

    def get_auth_response(self, auth_config: Any) -> AuthCredential | None:
        """Return the credential that a person gave when this call, or an earlier one of this invocation, asked for it.

        Nothing is exchanged: an OAuth2 answer has the token, or the code, that it was answered with.

        Args:
            auth_config: what was asked for.
        """
        asked = as_auth_config(auth_config)
        key = f"{State.TEMP_PREFIX}{asked.credential_key}"
        if self._auth_answer is not None and asked.is_answered_by(self._auth_answer):
            self.state[key] = self._auth_answer.exchanged_auth_credential
        credential: AuthCredential | None = self.state.get(key)
        return credential

    def _call_id(self) -> str:
        if not self.function_call_id:
            raise ValueError("This tool call has no function_call_id, so nobody could answer it.")
        return self.function_call_id
