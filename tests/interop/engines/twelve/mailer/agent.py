"""A tool that asks for a login."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.auth import AuthConfig, AuthCredential, AuthCredentialTypes, OAuth2Auth
from google.adk.tools import ToolContext

FLOW = {"authorizationUrl": "https://idp/auth", "tokenUrl": "https://idp/token", "scopes": {"mail": "read mail"}}
LOGIN = AuthConfig(
    auth_scheme={"type": "oauth2", "flows": {"authorizationCode": FLOW}},
    raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="me", client_secret="hidden")),
)


def read_mail(tool_context: ToolContext) -> dict:
    """Read the newest mail."""
    credential = tool_context.get_auth_response(LOGIN)
    if credential is None or credential.oauth2 is None or not credential.oauth2.access_token:
        tool_context.request_credential(LOGIN)
        return {"status": "a login is needed"}
    return {"mail": f"for {credential.oauth2.client_id}"}


root_agent = LlmAgent(name="mailer", model=told([("read_mail", {})], "You have mail."), tools=[read_mail])

app = App(name="mailer", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
