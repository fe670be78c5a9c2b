"""A skill's description, instructions and files."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Frontmatter(BaseModel):
    """What a model knows of a skill before it loads it: the head of SKILL.md. Other fields are kept.

    Attributes:
        name: lower-case letters, digits and single hyphens; at most 64 characters.
        description: what the skill is for; at most 1,024 characters.
        license: its licence.
        compatibility: what it needs; at most 500 characters.
        allowed_tools: names of tools, separated by spaces; `allowed-tools` in files.
        metadata: values for programs. `adk_additional_tools` names the tools that the skill brings, `adk_inject_state` (True) has
            `{key}` in the instructions replaced by the session's state.
    """

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    name: str
    description: str = Field(min_length=1, max_length=1024)
    license: str | None = None
    compatibility: str | None = Field(default=None, max_length=500)
    allowed_tools: str | None = Field(default=None, alias="allowed-tools", serialization_alias="allowed-tools")
    metadata: dict[str, Any] = {}

    @field_validator("name")
    @classmethod
    def _check_name(cls, value: str) -> str:
        value = unicodedata.normalize("NFKC", value)
        if len(value) > 64 or not _NAME.fullmatch(value):
            raise ValueError("it must be lower-case letters, digits and single hyphens between them, at most 64 characters")
        return value

    @field_validator("metadata")
    @classmethod
    def _check_metadata(cls, value: dict[str, Any]) -> dict[str, Any]:
        tools = value.get("adk_additional_tools", [])
        if not isinstance(tools, list) or not all(isinstance(name, str) for name in tools):
            raise ValueError("adk_additional_tools must be a list of strings")
        if not isinstance(value.get("adk_inject_state", False), bool):
            raise ValueError("adk_inject_state must be true or false")
        return value


class Script(BaseModel):
    """A program of a skill.

    Attributes:
        src: its text.
    """

    src: str

    def __str__(self) -> str:
        return self.src


class Resources(BaseModel):
    """A skill's files by their paths below `references`, `assets` and `scripts`; text, or bytes of files that are no text.

    Attributes:
        references: further instructions.
        assets: templates, schemas and other material.
        scripts: programs.
    """

    references: dict[str, str | bytes] = {}
    assets: dict[str, str | bytes] = {}
    scripts: dict[str, Script] = {}

    def get_reference(self, reference_id: str) -> str | bytes | None:
        """Return a reference, or None if there is none at this path."""
        return self.references.get(reference_id)

    def get_asset(self, asset_id: str) -> str | bytes | None:
        """Return an asset, or None if there is none at this path."""
        return self.assets.get(asset_id)

    def get_script(self, script_id: str) -> Script | None:
        """Return a script, or None if there is none at this path."""
        return self.scripts.get(script_id)

    def list_references(self) -> list[str]:
        """Return the paths of all references."""
        return list(self.references)

    def list_assets(self) -> list[str]:
        """Return the paths of all assets."""
        return list(self.assets)

    def list_scripts(self) -> list[str]:
        """Return the paths of all scripts."""
        return list(self.scripts)


class Skill(BaseModel):
    """A skill.

    Attributes:
        frontmatter: its name and description.
        instructions: the text that the model gets when it loads the skill.
        resources: its files, which the model loads one by one.
    """

    frontmatter: Frontmatter
    instructions: str
    resources: Resources = Resources()

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.frontmatter.name

    @property
    def description(self) -> str:
        """What the skill is for."""
        return self.frontmatter.description
