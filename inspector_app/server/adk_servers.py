"""Agents that google-adk's own server can serve, because their environment has google-adk."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inspector_app.engines.engine_choice import EngineChoice, plan_engine


@dataclass(frozen=True, slots=True)
class AdkServer:
    """The server of the google-adk in an agent's environment.

    Attributes:
        version: google-adk's version.
        command: the command that starts it for the agent's folder.
    """

    version: str
    command: str

    @property
    def sentence(self) -> str:
        """What to do about an agent that cannot run here."""
        return f"Its environment has google-adk {self.version}: `{self.command}` serves it as it is."


def adk_server_of(folder: Path) -> AdkServer | None:
    """Return the server of an agent that would run on google-adk in the window; None for others. No code runs."""
    plan = plan_engine(folder, EngineChoice())
    environment = plan.decision.environment
    if plan.kind != "adk" or environment.adk_version is None:
        return None
    command = shlex.join((str(environment.python.parent / "adk"), "api_server", str(folder.parent)))
    return AdkServer(environment.adk_version, command)


def embedded_instead(folders: Mapping[str, Path]) -> list[str]:
    """Return a sentence about the agents in each environment that has google-adk: here they run on the embedded runtime."""
    names: dict[AdkServer, list[str]] = {}
    for name, folder in sorted(folders.items()):
        if (server := adk_server_of(folder)) is not None:
            names.setdefault(server, []).append(name)
    return [_sentence(server, found) for server, found in names.items()]


def _sentence(server: AdkServer, names: list[str]) -> str:
    are, their, them = ("is", "its", "it as it is") if len(names) == 1 else ("are", "their", "them as they are")
    return (
        f"{', '.join(names)} {are} served on the embedded runtime, although {their} environment has google-adk {server.version}: "
        f"`{server.command}` serves {them}."
    )
