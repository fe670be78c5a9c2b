"""Runs agents with google-adk's own loader and Runner: `python twelve_alone.py FOLDER CONVERSATIONS` prints a JSON object, name → events.

It runs in google-adk's Python, so it imports nothing of ours. CONVERSATIONS is a JSON object, name → messages. A message is a text, or an
object with the name of the open call that it answers, and the response.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import warnings
from typing import Any


def content_of(message: Any, events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a message as the JSON of a Content."""
    if isinstance(message, str):
        return {"role": "user", "parts": [{"text": message}]}
    ((name, response),) = message.items()
    calls = [
        part["function_call"] for event in events for part in (event.get("content") or {}).get("parts") or [] if part.get("function_call")
    ]
    call = [call for call in calls if call["name"] == name][-1]
    if name == "adk_request_credential":
        response = {**call["args"]["authConfig"], **response}
    return {"role": "user", "parts": [{"function_response": {"id": call["id"], "name": name, "response": response}}]}


async def converse(root: Any, name: str, messages: list[Any]) -> list[dict[str, Any]]:
    """Return the events of a conversation as JSON."""
    types = importlib.import_module("google.genai.types")
    config = importlib.import_module("google.adk.agents.run_config")
    services = {
        "session_service": importlib.import_module("google.adk.sessions").InMemorySessionService(),
        "artifact_service": importlib.import_module("google.adk.artifacts").InMemoryArtifactService(),
    }
    credentials = importlib.import_module("google.adk.auth.credential_service.in_memory_credential_service")
    services["credential_service"] = credentials.InMemoryCredentialService()
    if isinstance(root, importlib.import_module("google.adk.apps.app").App):
        which = {"app": root}
    else:
        is_agent = isinstance(root, importlib.import_module("google.adk.agents").BaseAgent)
        which = {"app_name": name, "agent" if is_agent else "node": root}
    runner = importlib.import_module("google.adk.runners").Runner(**which, **services)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    events: list[dict[str, Any]] = []
    for message in messages:
        content = types.Content.model_validate(content_of(message, events))
        streaming = config.RunConfig(streaming_mode=config.StreamingMode.SSE)
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=content, run_config=streaming):
            events.append(event.model_dump(mode="json", exclude_none=True))
    return events


async def main() -> None:
    """Run and print."""
    folder, conversations = sys.argv[1], json.loads(sys.argv[2])
    loader = importlib.import_module("google.adk.cli.utils.agent_loader").AgentLoader(folder)
    found = {name: await converse(loader.load_agent(name), name, messages) for name, messages in conversations.items()}
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asyncio.run(main())
