"""A place where skills are looked for while an agent runs."""

from __future__ import annotations

from abc import ABC, abstractmethod

from runtime.skills.models import Frontmatter, Skill


class SkillRegistry(ABC):
    """The interface of a registry of skills."""

    @abstractmethod
    async def get_skill(self, *, name: str) -> Skill:
        """Return a skill.

        Args:
            name: the skill's name.

        Raises:
            Exception: there is no such skill.
        """

    @abstractmethod
    async def search_skills(self, *, query: str) -> list[Frontmatter]:
        """Return the descriptions of skills that may help.

        Args:
            query: what is looked for.
        """

    def search_tool_description(self) -> str | None:
        """Return how a model is to search here, as the description of its tool; None for a general one."""
        return None
