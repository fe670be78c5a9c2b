"""The demo of `make run`: the story sample, with a session in which one invocation was interrupted half-way.

The database is not shipped: it is created on first use, by running the sample and stopping it. So it always has this version's layout and
recent times, and the repository has no binary file that could become outdated.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from google.genai import types

from inspector_app.commands.window import load_app
from inspector_app.engines.agent_loader import load_agent
from inspector_app.resources.samples.story import script
from inspector_app.support import system_check
from inspector_app.support.data_folder import data_folder
from runtime.agents.llm_agent import LlmAgent
from runtime.apps.app import App
from runtime.errors import KnownError
from runtime.history.invocations import pending_items
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.storage.open_service import open_session_service

if TYPE_CHECKING:
    from inspector_app.app import Inspector

STORY = Path(script.__file__).parent
MESSAGE = "Write a story about the keeper of the north light"
STOPPED_AT = "Reviser"  # stops after the first revision: another round of the critic, the checks and the ending remain


PICTURE = "inspector.png"


def main() -> int:
    """Open the window on the story, ready to be resumed; without a display, resume it and save a picture.

    Returns:
        The exit status.
    """
    off_screen = not system_check.has_display()
    try:
        app = load_app(off_screen=off_screen)
        paths = [str(STORY), str(interrupted_story(data_folder() / "story.db"))]
        if not off_screen:
            status: int = app.run_window(paths, trust=True)
            return status
        sys.stdout.write("There is no display: drawing the window off screen and resuming the sample's interrupted story…\n")
        sys.stdout.flush()
        status = app.save_screenshot(paths, PICTURE, trust=True, prepare=_resume)
    except KnownError as error:
        sys.stderr.write(f"agent-inspector: {error}\n")
        return 1
    if status == 0:
        sys.stdout.write(f"Wrote {PICTURE} with the finished story. On a machine with a display, `make run` opens the window.\n")
    return status


async def _resume(inspector: Inspector) -> None:
    inspector.run.resume()


def interrupted_story(database: Path) -> Path:
    """Ensure that a database has a story invocation to resume, by adding a session with one if needed.

    Args:
        database: the database file; created, with its folder, if it does not exist.

    Returns:
        The database.
    """
    database.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(_ensure_interrupted(str(database)))
    return database


async def _ensure_interrupted(database: str) -> None:
    app = _instant_story()
    async with open_session_service(database) as service:
        if not await _has_unfinished(service, app.name):
            await _run_half_way(app, service)


async def _has_unfinished(service: BaseSessionService, app_name: str) -> bool:
    for listed in (await service.list_sessions(app_name=app_name)).sessions:
        session = await service.get_session(app_name=app_name, user_id=listed.user_id, session_id=listed.id)
        if session and pending_items(session.events):
            return True
    return False


async def _run_half_way(app: App, service: BaseSessionService) -> None:
    told = len((await service.list_sessions(app_name=app.name)).sessions)
    session = await service.create_session(app_name=app.name, user_id="user", session_id=f"story-{told + 1}")
    runner = Runner(app=app, session_service=service)
    message = types.Content(role="user", parts=[types.Part(text=MESSAGE)])
    async with aclosing(runner.run_async(user_id="user", session_id=session.id, new_message=message)) as events:
        async for event in events:
            if event.author == STOPPED_AT and event.content:
                return


def _instant_story() -> App:
    """Return the sample on its scripted model without delays, even where an API key would select Gemini."""
    app = load_agent(str(STORY)).app
    for agent in app.root_agent.descendants():
        if isinstance(agent, LlmAgent):
            agent.model = script.story_script(delay=0)
    return app


if __name__ == "__main__":
    sys.exit(main())
