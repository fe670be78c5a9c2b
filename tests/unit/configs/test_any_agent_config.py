"""The fields of a YAML file of any class."""

from __future__ import annotations

import pytest

from runtime.agents.agent_config import AgentConfig
from runtime.configs.agent_config import BaseAgentConfig, LlmAgentConfig, LoopAgentConfig


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"name": "a", "instruction": "Help."}, LlmAgentConfig),
        ({"agent_class": "LoopAgent", "name": "a", "max_iterations": 3}, LoopAgentConfig),
        ({"agent_class": "my.package.Own", "name": "a", "more": 1}, BaseAgentConfig),
    ],
)
def test_the_class_decides_the_fields(data: dict[str, object], kind: type) -> None:
    assert type(AgentConfig.model_validate(data).root) is kind


@pytest.mark.parametrize("data", [{"agent_class": "LoopAgent", "name": "a", "instruction": "Help."}, {"name": "a"}, ["a"], "a"])
def test_other_fields_are_refused(data: object) -> None:
    with pytest.raises(ValueError, match=r"instruction|mapping"):
        AgentConfig.model_validate(data)
