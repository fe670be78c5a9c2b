"""Loading an agent for a coding agent: only from a folder that the user has trusted in the window."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from inspector_app.engines.agent_loader import check_agent_path, load_agent
from inspector_app.engines.code_files import code_digest
from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from inspector_app.engines.protocol import Agent
from inspector_app.engines.samples import is_bundled
from inspector_app.support.preferences import Preferences
from runtime.errors import KnownError
from runtime.support.worker_threads import run_in_thread


class NotTrustedError(KnownError):
    """The folder's code may not run; the message says why."""


async def load_trusted(path: str) -> Agent:
    """Load an agent.

    Raises:
        NotTrustedError: the user has not trusted the folder, or its code has changed since.
        KnownError: it cannot be loaded.
    """
    check_agent_path(path)
    folder = await run_in_thread(_folder_of, path)
    if not await run_in_thread(is_trusted, folder):
        raise NotTrustedError(
            f"{path} is not trusted, or its code has changed since it was. Ask the user to open it once with `agent-inspector {path}`"
            " and to trust it there. This server trusts nothing by itself."
        )
    preferences = Preferences()
    chosen = preferences.engine(folder)
    plan = await run_in_thread(plan_engine, path, _choice(chosen))
    if plan.kind == "embedded":
        return await run_in_thread(load_agent, path)
    child = importlib.import_module("inspector_app.engines.child_agent").ChildAgent
    environment = plan.decision.environment if plan.kind == "adk" else None
    loaded: Agent = await child.load(plan.decision.agent, environment, _ignore)
    return loaded


def _folder_of(path: str) -> Path:
    place = Path(path)
    return (place if place.is_dir() else place.parent).resolve()


def is_trusted(folder: Path) -> bool:
    """Return whether the user has trusted a folder's present code.

    Args:
        folder: an absolute path without links.
    """
    if is_bundled(folder):
        return True
    known = Preferences().trusted_code(folder)
    inode = str(known.get("identity", "")).partition(":")[0]  # the rest is the time of creation, which Python cannot read everywhere
    if not known or inode != str(folder.stat().st_ino):
        return False
    return known.get("changes") is True or (known.get("digest") is not None and known["digest"] == code_digest(folder))


def _choice(chosen: dict[str, Any]) -> EngineChoice:
    kind, python = chosen.get("kind"), chosen.get("python")
    return EngineChoice(kind if kind in ("adk", "embedded", "embedded-process") else None, python if isinstance(python, str) else None)


def _ignore(_line: object) -> None:
    """Ignore what the agent writes; its output is in no answer."""
