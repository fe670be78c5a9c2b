"""The credentials of toolsets, which are needed before their tools can be listed."""

from __future__ import annotations

import logging

from runtime.auth.auth_handler import AuthHandler
from runtime.auth.auth_tool import AuthConfig, read_answer
from runtime.auth.credential_manager import CredentialManager
from runtime.contexts.context import ToolContext
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event
from runtime.events.marks import CREDENTIAL_CALL, TOOLSET_CREDENTIAL
from runtime.flows.function_calls import credential_request, unwrapped
from runtime.flows.turn_agent import TurnAgent

logger = logging.getLogger(__name__)


async def request_credentials(agent: TurnAgent, ctx: InvocationContext) -> Event | None:
    """Get the credentials of an agent's toolsets, for this invocation.

    Returns:
        The event that asks the user for those that are missing; None if there are none.

    Raises:
        ValueError: an OAuth2 client is missing or incomplete.
        CredentialExchangeError: a service account got no token.
    """
    missing: dict[str, AuthConfig] = {}
    for toolset in agent.toolsets:
        config = toolset.get_auth_config()
        if config is None:
            continue
        kind = type(toolset).__name__
        purpose, key, known = TOOLSET_CREDENTIAL + kind, config.credential_key, ctx.shared.credentials
        if key not in known and (given := _given(ctx, config)) is not None and given.exchanged_auth_credential is not None:
            known[key] = given.exchanged_auth_credential
        try:
            credential = await CredentialManager(config).get_auth_credential(ToolContext(ctx, function_call_id=purpose))
        except ValueError as error:
            logger.warning("The credential of the %s of agent %s cannot be used: %s", kind, agent.name, error)
            credential = None
        if credential is None:
            missing[purpose] = AuthHandler(config).generate_auth_request().without_secrets()
        else:
            known[key] = credential
    return credential_request(ctx, agent.name, missing) if missing else None


def _given(ctx: InvocationContext, config: AuthConfig) -> AuthConfig | None:
    """Return the user's newest answer in this invocation that this request accepts."""
    for event in reversed(ctx.invocation_events()):
        for response in event.get_function_responses() if event.author == "user" else ():
            answer = read_answer(unwrapped(response.response)) if response.name == CREDENTIAL_CALL else None
            if answer is not None and config.is_answered_by(answer):
                return answer
    return None
