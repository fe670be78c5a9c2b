"""Agents as YAML files, as users of google-adk write them: folder → file → text. The code in them imports google-adk."""

from __future__ import annotations

from pathlib import Path

_TOOLS = '''
from google.adk.tools import FunctionTool

NOTES = {}

def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

def greet(name: str) -> str:
    """Greet."""
    return f"Hello {name}"

greeting_tool = FunctionTool(greet)

def adder(args):
    def add_fixed(number: int) -> int:
        """Add a fixed number."""
        return number + args.amount
    return FunctionTool(add_fixed)
'''
_SMALL = "name: {name}\nmodel: gemini-2.5-flash\ndescription: Knows {name}.\ninstruction: Answer about {name}.\n"

YAML_AGENTS: dict[str, dict[str, str]] = {
    "plain": {"root_agent.yaml": _SMALL.format(name="tea")},
    "settings": {
        "root_agent.yaml": "agent_class: LlmAgent\nname: settings\ninstruction: Answer.\noutput_key: answer\ninclude_contents: none\n"
        "disallow_transfer_to_parent: true\ndisallow_transfer_to_peers: true\nstatic_instruction: Never lie.\n"
        "generate_content_config:\n  temperature: 0.1\n  max_output_tokens: 200\n  safety_settings:\n"
        "    - category: HARM_CATEGORY_DANGEROUS_CONTENT\n      threshold: 'OFF'\n",
    },
    "tools_by_name": {
        "root_agent.yaml": _SMALL.format(name="web") + "tools:\n  - name: google_search\n  - name: url_context\n  - name: load_memory\n",
    },
    "tools_in_code": {
        "__init__.py": "",
        "tools.py": _TOOLS,
        "root_agent.yaml": _SMALL.format(name="sums")
        + "tools:\n  - name: tools_in_code.tools.add\n  - name: tools_in_code.tools.greeting_tool\n"
        "  - name: tools_in_code.tools.adder\n    args:\n      amount: 3\n"
        "  - name: LongRunningFunctionTool\n    args:\n      func: tools_in_code.tools.greet\n",
    },
    "tool_class": {
        "__init__.py": "",
        "shelf.py": "from google.adk.tools.base_tool import BaseTool\n\n"
        "class Shelf(BaseTool):\n    def __init__(self, size: int, labels: list[str], sort: bool = False):\n"
        "        super().__init__(name='shelf', description=f'{size} {labels} {sort}')\n\n"
        "class Own(BaseTool):\n    @classmethod\n    def from_config(cls, config, config_abs_path):\n"
        "        return cls(name='own', description=str(config.colour))\n",
        "root_agent.yaml": _SMALL.format(name="shelves")
        + "tools:\n  - name: tool_class.shelf.Shelf\n    args:\n      size: 3\n      labels: [a, b]\n"
        "  - name: tool_class.shelf.Own\n    args:\n      colour: red\n",
    },
    "agent_tool": {
        "root_agent.yaml": _SMALL.format(name="shop")
        + "tools:\n  - name: AgentTool\n    args:\n      agent:\n        config_path: ./tea.yaml\n      skip_summarization: true\n",
        "tea.yaml": _SMALL.format(name="tea"),
    },
    "callbacks": {
        "__init__.py": "",
        "hooks.py": "".join(f"def {hook}(*args, **kwargs):\n    return None\n\n" for hook in ("first", "second", "third")),
        "root_agent.yaml": _SMALL.format(name="watched")
        + "".join(
            f"{hook}_callbacks:\n  - name: callbacks.hooks.first\n  - name: callbacks.hooks.{other}\n"
            for hook, other in (
                ("before_agent", "second"),
                ("after_agent", "third"),
                ("before_model", "second"),
                ("after_model", "third"),
                ("before_tool", "second"),
                ("after_tool", "third"),
            )
        ),
    },
    "sequence": {
        "root_agent.yaml": "agent_class: SequentialAgent\nname: pipeline\nsub_agents:\n  - config_path: steps/write.yaml\n"
        "  - config_path: steps/check.yaml\n",
        "steps/write.yaml": _SMALL.format(name="write"),
        "steps/check.yaml": _SMALL.format(name="check"),
    },
    "loop": {
        "root_agent.yaml": "agent_class: LoopAgent\nname: refine\nmax_iterations: 3\nsub_agents:\n  - config_path: critic.yaml\n",
        "critic.yaml": _SMALL.format(name="critic") + "tools:\n  - name: exit_loop\n",
    },
    "parallel": {
        "__init__.py": "",
        "left.py": "from google.adk.agents import LlmAgent\n\nagent = LlmAgent(name='left', model='gemini-2.5-flash', instruction='L.')\n",
        "root_agent.yaml": "agent_class: ParallelAgent\nname: both\nsub_agents:\n"
        "  - code: parallel.left.agent\n  - config_path: right.yaml\n",
        "right.yaml": _SMALL.format(name="right"),
    },
    "own_class": {
        "__init__.py": "",
        "kinds.py": "from typing import Any, ClassVar\nfrom google.adk.agents import BaseAgent\n"
        "from google.adk.agents.base_agent_config import BaseAgentConfig\n\n"
        "class PotConfig(BaseAgentConfig):\n    litres: int = 1\n\n"
        "class Pot(BaseAgent):\n    config_type: ClassVar[type[BaseAgentConfig]] = PotConfig\n    litres: int = 0\n\n"
        "    @classmethod\n    def _parse_config(cls, config, config_abs_path, kwargs):\n"
        "        return {**kwargs, 'litres': config.litres}\n",
        "root_agent.yaml": "agent_class: own_class.kinds.Pot\nname: pot\nlitres: 2\nsub_agents:\n  - config_path: tea.yaml\n",
        "tea.yaml": _SMALL.format(name="tea"),
    },
    "schemas": {
        "__init__.py": "",
        "shapes.py": "from pydantic import BaseModel\nfrom google.adk.models.base_llm import BaseLlm\n\n"
        "class Order(BaseModel):\n    item: str\n\nclass Llm(BaseLlm):\n"
        "    async def generate_content_async(self, llm_request, stream=False):\n"
        "        yield\n\nllm = Llm(model='own')\n",
        "root_agent.yaml": "name: orders\ninstruction: Answer.\nmodel_code:\n  name: schemas.shapes.llm\n"
        "input_schema:\n  name: schemas.shapes.Order\noutput_schema:\n  name: schemas.shapes.Order\n",
    },
}


def write_yaml_agents(folder: Path) -> None:
    """Write all agents, each to a folder of its own."""
    for name, files in YAML_AGENTS.items():
        for file, text in files.items():
            (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / file).write_text(text, "utf-8")
