"""Agents as YAML files, without the application: the agents, and errors with file, line and field."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.agents import LlmAgent, LoopAgent, SequentialAgent
from runtime.agents.common_configs import CodeConfig
from runtime.agents.config_agent_utils import from_config, resolve_callbacks, resolve_code_reference, resolve_fully_qualified_name
from runtime.configs.config_file import MAX_BYTES, AgentConfigError
from runtime.tools import AgentTool, McpToolset, google_search
from runtime.tools.tool_configs import ToolArgsConfig
from tests.yaml_agents import YAML_AGENTS

_TIMES_NINE = "".join(f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in ("ab", "bc", "cd", "de", "ef"))
REPEATED = "a: &a [x, x, x, x, x, x, x, x, x]\n" + _TIMES_NINE
SMALL = "name: tea\nmodel: gemini-2.5-flash\ninstruction: Answer.\n"


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    before = dict(sys.modules)
    yield
    for name in sys.modules.keys() - before.keys():
        if name.partition(".")[0].startswith("made_"):
            del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # A name of its own for each test: modules are found by name.
    path = tmp_path / f"made_{abs(hash(str(tmp_path)))}"
    path.mkdir()
    return path


def write(folder: Path, text: str, name: str = "root_agent.yaml") -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(AgentConfigError) as found:
        from_config(write(folder, text))
    assert isinstance(found.value, ValueError)
    return str(found.value)


def test_a_file_is_an_agent(folder: Path) -> None:
    agent = from_config(write(folder, YAML_AGENTS["settings"]["root_agent.yaml"]))
    assert isinstance(agent, LlmAgent) and agent.output_key == "answer" and agent.static_instruction == "Never lie."


def test_files_refer_to_files(folder: Path) -> None:
    for name, text in YAML_AGENTS["sequence"].items():
        write(folder, text, name)
    agent = from_config(str(folder / "root_agent.yaml"))
    assert isinstance(agent, SequentialAgent) and [one.name for one in agent.sub_agents] == ["write", "check"]


def test_code_is_found_in_the_agents_folder_and_next_to_it(folder: Path) -> None:
    write(folder, "def here(): ...\n", "tools.py")
    write(folder, "def deep(): ...\n", "more/tools.py")
    write(folder.parent, "def there(): ...\n", f"{folder.name}_shared/tools.py")
    names = ["tools.here", ".tools.here", "more.tools.deep", f"{folder.name}.tools.here", f"{folder.name}_shared.tools.there"]
    agent = from_config(write(folder, SMALL + "tools:\n" + "".join(f"  - name: {name}\n" for name in names)))
    assert isinstance(agent, LlmAgent)
    assert [tool.__name__ for tool in agent.tools] == ["here", "here", "deep", "here", "there"]  # type: ignore[union-attr]


def test_google_adks_names_are_ours(folder: Path) -> None:
    agent = from_config(
        write(
            folder,
            "agent_class: google.adk.agents.LlmAgent\n" + SMALL + "tools:\n  - name: google.adk.tools.google_search\n"
            "  - name: McpToolset\n    args:\n      streamable_http_connection_params:\n        url: http://localhost/mcp\n"
            "      tool_filter: [a]\n",
        )
    )
    assert isinstance(agent, LlmAgent) and agent.tools[0] is google_search
    assert isinstance(agent.tools[1], McpToolset) and agent.tools[1].tool_filter == ["a"]


def test_references_take_arguments(folder: Path) -> None:
    write(folder, "def pair(a, b=0):\n    return a, b\n", "code.py")
    write(folder, SMALL + "tools:\n  - name: AgentTool\n    args:\n      agent:\n        config_path: tea.yaml\n")
    write(folder, SMALL.replace("tea", "inner"), "tea.yaml")
    assert isinstance(from_config(str(folder / "root_agent.yaml")).tools[0], AgentTool)
    args = [{"value": 1}, {"name": "b", "value": 2}]
    os.chdir(folder)
    assert resolve_code_reference(CodeConfig.model_validate({"name": "code.pair", "args": args})) == (1, 2)
    assert [one.__name__ for one in resolve_callbacks([CodeConfig(name="code.pair")])] == ["pair"]


@pytest.fixture(autouse=True)
def here() -> Iterator[None]:
    before = Path.cwd()
    yield
    os.chdir(before)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "root_agent.yaml is empty; an agent is a mapping"),
        ("- a\n", "root_agent.yaml has a list at its top"),
        ("name: [\n", "root_agent.yaml, line 2: "),
        ("name: !!python/object/apply:os.system [x]\n", "root_agent.yaml, line 1: could not determine a constructor"),
        ("name: tea\n", "root_agent.yaml, line 1: instruction: field required."),
        (SMALL + "modle: x\n", "root_agent.yaml, line 4: modle: extra inputs are not permitted."),
        (SMALL + "tools:\n  - name: 3\n", "root_agent.yaml, line 5: tools[0].name: input should be a valid string."),
        (SMALL + "tools:\n  - nam: x\n", "root_agent.yaml, line 5: tools[0].name: field required; root_agent.yaml, line 5: tools[0].nam:"),
        (SMALL + "sub_agents:\n  - {}\n", "line 5: sub_agents[0]: give either `config_path` or `code`."),
        (SMALL + "model_code:\n  name: a.b\n", "root_agent.yaml, line 1: give either `model` or `model_code`."),
        ("name: two words\ninstruction: x\n", "root_agent.yaml, line 1: name: 'two words' is not an agent name"),
        ("agent_class: NoAgent\nname: a\n", "root_agent.yaml, line 1: agent_class: the embedded runtime has no google.adk.agents.NoAgent."),
        ("agent_class: RunConfig\nname: a\n", "root_agent.yaml, line 1: agent_class: RunConfig is no class of agents."),
        (SMALL + "tools:\n  - name: NoTool\n", "the embedded runtime has no google.adk.tools.NoTool. To use it, run the agent on"),
        (SMALL + "tools:\n  - name: os.system\n", "root_agent.yaml, line 5: tools[0].name: os.system is not in the agent's folder nor"),
        (SMALL + "tools:\n  - name: yaml.unsafe_load\n", "run the agent on google-adk"),
        (SMALL + "tools:\n  - name: ../x.y\n", "'../x.y' is not the name of an object in code"),
        (SMALL + "tools:\n  - name: code.LIMIT\n", "root_agent.yaml, line 5: tools[0]: code.LIMIT is a int, not a tool."),
        (SMALL + "tools:\n  - name: code.absent\n", "code.py has no absent."),
        (SMALL + "tools:\n  - name: AgentTool\n    args:\n      agent: x.yaml\n", "root_agent.yaml, line 7: tools[0].args.agent: "),
        (SMALL + "tools:\n  - name: LongRunningFunctionTool\n    args:\n      fun: x\n", "tools[0].args: there is no argument fun."),
        (SMALL + "tools:\n  - name: McpToolset\n", "tools[0]: give exactly one of stdio_server_params,"),
        (SMALL + "sub_agents:\n  - config_path: none.yaml\n", "line 5: sub_agents[0].config_path: there is no file none.yaml in "),
        (SMALL + "sub_agents:\n  - config_path: ../none.yaml\n", "Path traversal detected: ../none.yaml is outside the agent's folder"),
        (SMALL + "sub_agents:\n  - config_path: /etc/passwd\n", "Absolute paths are not allowed in AgentRefConfig"),
        (SMALL + "sub_agents:\n  - config_path: link.yaml\n", "Path traversal detected: link.yaml is outside the agent's folder"),
        (SMALL + "sub_agents:\n  - config_path: root_agent.yaml\n", "root_agent.yaml refers to itself, directly or through other files."),
        (SMALL + "sub_agents:\n  - code: code.LIMIT\n", "line 5: sub_agents[0].code: code.LIMIT is a int, not an agent."),
        (SMALL + "sub_agents:\n  - code: google.adk.agents.LlmAgent\n", "google.adk.agents.LlmAgent is a class;"),
        (SMALL + "sub_agents:\n  - config_path: deep/broken.yaml\n", "deep/broken.yaml, line 2: instruction: "),
        (REPEATED, "root_agent.yaml has more than 50,000 fields."),
        ("a: &a [*a]\n", "root_agent.yaml "),
        ("[" * 5000, "root_agent.yaml "),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_field(folder: Path, text: str, message: str) -> None:
    write(folder, "LIMIT = 3\n", "code.py")
    write(folder, "name: x\ninstruction: [1]\n", "deep/broken.yaml")
    write(folder.parent, SMALL, "outside.yaml")
    (folder / "link.yaml").symlink_to(folder.parent / "outside.yaml")
    assert message in refusal(folder, text)


def test_a_large_or_absent_file_is_refused(folder: Path) -> None:
    assert "is larger than" in refusal(folder, "#" * (MAX_BYTES + 1))
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.yaml"):
        from_config(str(folder / "none.yaml"))


def test_a_name_imports_nothing_but_the_agents_own_code(folder: Path) -> None:
    write(folder, "raise SystemError('imported')\n", "broken.py")
    write(folder.parent, "", "json.py")
    for name in ("antigravity.geohash", "json.loads", "this.s", f"{folder.name}..x"):
        refusal(folder, SMALL + f"tools:\n  - name: {name}\n")
    assert "antigravity" not in sys.modules
    with pytest.raises(SystemError, match="imported"):
        from_config(write(folder, SMALL + "tools:\n  - name: broken.tool\n"))


def test_names_can_be_resolved_outside_a_file() -> None:
    assert resolve_fully_qualified_name("google.adk.agents.LoopAgent") is LoopAgent
    with pytest.raises(AgentConfigError, match="is not the name of an object"):
        resolve_fully_qualified_name("nothing")


def test_a_toolset_without_from_config_says_so() -> None:
    with pytest.raises(ValueError, match="make it in code"):
        from_bare = type("Bare", (McpToolset.__mro__[1],), {"get_tools": None})
        from_bare.from_config(ToolArgsConfig(), "x")
