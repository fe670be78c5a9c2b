"""The fields of agents in YAML files."""

from __future__ import annotations

from typing import Any, Literal

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, model_validator


class ArgumentConfig(BaseModel):
    """An argument of a function or class.

    Attributes:
        name: the parameter; None for a positional argument.
        value: the value.
    """

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    value: Any


class CodeConfig(BaseModel):
    """A reference to an object in code.

    Attributes:
        name: its module and name, such as `my_agent.callbacks.check_input`.
        args: if given, the object is called with these arguments.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    args: list[ArgumentConfig] | None = None


class AgentRefConfig(BaseModel):
    """A reference to an agent: one of the two.

    Attributes:
        config_path: its YAML file, relative to the file that has the reference.
        code: its module and name.
    """

    model_config = ConfigDict(extra="forbid")

    config_path: str | None = None
    code: str | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> AgentRefConfig:
        if (self.config_path is None) == (self.code is None):
            raise ValueError("give either `config_path` or `code`")
        return self


class BaseToolConfig(BaseModel):
    """Base class of the arguments of a class of tools."""

    model_config = ConfigDict(extra="forbid")


class ToolArgsConfig(BaseModel):
    """The arguments of a tool, of any name."""

    model_config = ConfigDict(extra="allow")


class ToolConfig(BaseModel):
    """A tool.

    Attributes:
        name: a name of google-adk's `tools`, or module and name of a tool, a class of tools or a function.
        args: the arguments of the class, or of a function that returns a tool.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    args: ToolArgsConfig | None = None


class BaseAgentConfig(BaseModel):
    """The fields of every agent; classes of agents with more fields set `config_type` to a subclass.

    Attributes:
        agent_class: a name of google-adk's `agents`, or the class's module and name.
        name, description: see `BaseAgent`.
        sub_agents: references to agents.
        before_agent_callbacks, after_agent_callbacks: references to functions.
    """

    model_config = ConfigDict(extra="allow")

    agent_class: str = "BaseAgent"
    name: str
    description: str = ""
    sub_agents: list[AgentRefConfig] | None = None
    before_agent_callbacks: list[CodeConfig] | None = None
    after_agent_callbacks: list[CodeConfig] | None = None


class LlmAgentConfig(BaseAgentConfig):
    """The fields of an `LlmAgent`, which documents them.

    Attributes:
        model: the model's name; or give `model_code`, a reference to a model object or its class.
    """

    model_config = ConfigDict(extra="forbid")

    agent_class: str = "LlmAgent"
    model: str | None = None
    model_code: CodeConfig | None = None
    instruction: str
    static_instruction: str | types.Content | types.Part | types.File | list[str | types.Part | types.File] | None = None
    disallow_transfer_to_parent: bool | None = None
    disallow_transfer_to_peers: bool | None = None
    input_schema: CodeConfig | None = None
    output_schema: CodeConfig | None = None
    output_key: str | None = None
    include_contents: Literal["default", "none"] = "default"
    tools: list[ToolConfig] | None = None
    before_model_callbacks: list[CodeConfig] | None = None
    after_model_callbacks: list[CodeConfig] | None = None
    before_tool_callbacks: list[CodeConfig] | None = None
    after_tool_callbacks: list[CodeConfig] | None = None
    generate_content_config: types.GenerateContentConfig | None = None

    @model_validator(mode="before")
    @classmethod
    def _model_in_code(cls, data: Any) -> Any:
        """Accept the old form of `model_code`: a mapping under `model`."""
        if isinstance(data, dict) and isinstance(data.get("model"), dict) and data.get("model_code") is None:
            return {**data, "model": None, "model_code": data["model"]}
        return data

    @model_validator(mode="after")
    def _one_model(self) -> LlmAgentConfig:
        if self.model and self.model_code:
            raise ValueError("give either `model` or `model_code`")
        return self


class LoopAgentConfig(BaseAgentConfig):
    """The fields of a `LoopAgent`."""

    model_config = ConfigDict(extra="forbid")

    agent_class: str = "LoopAgent"
    max_iterations: int | None = None


class ParallelAgentConfig(BaseAgentConfig):
    """The fields of a `ParallelAgent`."""

    model_config = ConfigDict(extra="forbid")

    agent_class: str = "ParallelAgent"


class SequentialAgentConfig(BaseAgentConfig):
    """The fields of a `SequentialAgent`."""

    model_config = ConfigDict(extra="forbid")

    agent_class: str = "SequentialAgent"


class AgentToolConfig(BaseToolConfig):
    """The arguments of an `AgentTool`, which documents them."""

    agent: AgentRefConfig
    skip_summarization: bool = False
    include_plugins: bool = Field(default=True)
