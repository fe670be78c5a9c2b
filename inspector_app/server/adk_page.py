"""google-adk's page, where it is installed. It is never a part of Agent Inspector."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from runtime.errors import KnownError

_PAGE = Path("google", "adk", "cli", "browser")
_FIRST = "index.html"


class NoPageError(KnownError):
    """A folder has no page of google-adk."""


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
