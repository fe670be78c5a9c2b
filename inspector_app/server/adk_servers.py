"""What the google-adk in an agent's environment has: its own server, and its page, which is never a part of Agent Inspector."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from runtime.errors import KnownError

_PAGE = Path("google", "adk", "cli", "browser")
_FIRST = "index.html"


class NoPageError(KnownError):
    """A folder has no page of google-adk."""


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


def page_in(folder: str) -> Path:
    """Return the folder of google-adk's page.

    Args:
        folder: that folder itself, or a Python environment or package folder with google-adk.

    Raises:
        NoPageError: there is none.
    """
    place = Path(folder).expanduser()
    found = place if (place / _FIRST).is_file() else _below(place)
    if found is None:
        raise NoPageError(
            f"{folder} has no page of google-adk. Name an environment that has google-adk, or its folder google/adk/cli/browser."
        )
    return found.resolve()


def page_of(agents: Iterable[Path]) -> Path | None:
    """Return the page of the google-adk in an agent's environment; None if no agent has one. No code runs."""
    for folder in agents:
        environment = plan_engine(folder, EngineChoice()).decision.environment
        if environment.adk_version is not None and (found := _below(environment.python.parent.parent)) is not None:
            return found
    return None


def _below(environment: Path) -> Path | None:
    for packages in (environment, *environment.glob("lib/python3*/site-packages"), environment / "Lib" / "site-packages"):
        if (packages / _PAGE / _FIRST).is_file():
            return packages / _PAGE
    return None
