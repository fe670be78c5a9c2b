"""Skills in Cloud Storage, which only the google-adk engine reads."""

from __future__ import annotations

from typing import Any, NoReturn

from runtime.errors.engine_needed_error import EngineNeededError


def load_skill_from_gcs_dir(*given: Any, **named: Any) -> NoReturn:
    """Raise `EngineNeededError`."""
    raise EngineNeededError("Loading skills from Cloud Storage")


def list_skills_in_gcs_dir(*given: Any, **named: Any) -> NoReturn:
    """Raise `EngineNeededError`."""
    raise EngineNeededError("Listing skills in Cloud Storage")


async def load_skill_from_gcs_dir_async(*given: Any, **named: Any) -> NoReturn:
    """Raise `EngineNeededError`."""
    load_skill_from_gcs_dir()


async def list_skills_in_gcs_dir_async(*given: Any, **named: Any) -> NoReturn:
    """Raise `EngineNeededError`."""
    list_skills_in_gcs_dir()
