"""The fields of a YAML file of any class of agents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, RootModel, Tag

from runtime.configs.agent_config import BaseAgentConfig, LlmAgentConfig, LoopAgentConfig, ParallelAgentConfig, SequentialAgentConfig

_BY_CLASS = frozenset({"LlmAgent", "LoopAgent", "ParallelAgent", "SequentialAgent"})


def agent_config_discriminator(data: Any) -> str:
    """Return the class whose fields a file has; `BaseAgent` for the agent's own classes.

    Args:
        data: the file's content.

    Raises:
        ValueError: it is no mapping.
    """
    if not isinstance(data, dict):
        raise ValueError(f"Invalid agent config: it is a {type(data).__name__}, not a mapping.")
    name = data.get("agent_class", "LlmAgent")
    return name if name in _BY_CLASS else "BaseAgent"


class AgentConfig(
    RootModel[
        Annotated[
            Annotated[LlmAgentConfig, Tag("LlmAgent")]
            | Annotated[LoopAgentConfig, Tag("LoopAgent")]
            | Annotated[ParallelAgentConfig, Tag("ParallelAgent")]
            | Annotated[SequentialAgentConfig, Tag("SequentialAgent")]
            | Annotated[BaseAgentConfig, Tag("BaseAgent")],
            Discriminator(agent_config_discriminator),
        ]
    ]
):
    """A YAML file's fields, checked without making the agent; `from_config` makes it.

    Attributes:
        root: the fields, as the config of the file's class.
    """
