"""Texts with braces, filled from a state and artifacts: `braces.py FILE`, a JSON file with the texts and the state."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.artifacts import InMemoryArtifactService
from google.adk.sessions import InMemorySessionService
from google.adk.utils.instructions_utils import inject_session_state
from google.genai import types

from tests.interop.beside.common import print_result

GIVEN = json.loads(Path(sys.argv[1]).read_text())


async def main() -> list[list[str]]:
    """Return each filled text, or the kind of error that it raises."""
    sessions, artifacts = InMemorySessionService(), InMemoryArtifactService()
    session = await sessions.create_session(app_name="app", user_id="u", session_id="s", state=GIVEN["state"])
    if GIVEN["artifact"] is not None:
        part = types.Part(text=GIVEN["artifact"])
        await artifacts.save_artifact(app_name="app", user_id="u", session_id="s", filename="note", artifact=part)
    agent = LlmAgent(name="agent", model="gemini-2.5-flash")
    invocation = InvocationContext(invocation_id="e-1", agent=agent, session=session, session_service=sessions, artifact_service=artifacts)
    found = []
    for text in GIVEN["texts"]:
        try:
            found.append(["text", await inject_session_state(text, ReadonlyContext(invocation))])
        except KeyError:
            found.append(["raised", "KeyError"])
    return found


if __name__ == "__main__":
    print_result(main)
