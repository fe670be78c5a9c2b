"""The base class of an agent's fields in a YAML file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class BaseAgentConfig(BaseModel):
    """The fields of an agent in a YAML file, which google-adk reads. Programs derive those of their own classes of agents from it.

    Attributes:
        agent_class: the class's name.
        name, description: see `BaseAgent`.
    """

    model_config = ConfigDict(extra="allow")

    agent_class: str = "BaseAgent"
    name: str
    description: str = ""
