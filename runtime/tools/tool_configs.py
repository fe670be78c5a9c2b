"""The base classes of a tool's arguments in a YAML file, which google-adk reads."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class BaseToolConfig(BaseModel):
    """Base class of the arguments of a class of tools."""

    model_config = ConfigDict(extra="forbid")


class ToolArgsConfig(BaseModel):
    """The arguments of a tool, of any name."""

    model_config = ConfigDict(extra="allow")
