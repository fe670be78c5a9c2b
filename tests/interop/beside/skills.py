"""Skills of a registry, in an environment, and released ones."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.environment import LocalEnvironment
from google.adk.skills import Frontmatter, Resources, Script, Skill, SkillRegistry
from google.adk.tools.skill_toolset import SkillToolset

from tests.interop.beside.common import print_result, run, scripted

os.environ["ADK_ENABLE_SKILL_LIFECYCLE"] = "1"


def skill(name: str) -> Skill:
    head = Frontmatter(name=name, description=f"Makes {name}.", metadata={"adk_additional_tools": ["pour"]})
    script = Script(src="cat $(dirname $0)/../references/kinds.md; exit 3")
    resources = Resources(references={"kinds.md": f"green {name}"}, scripts={"boil.sh": script})
    return Skill(frontmatter=head, instructions=f"Boil {name}.", resources=resources)


class Cupboard(SkillRegistry):
    """Has one skill."""

    async def get_skill(self, *, name: str) -> Skill:
        if name != "milk":
            raise LookupError(f"no {name}")
        return skill(name)

    async def search_skills(self, *, query: str) -> list[Frontmatter]:
        if query == "broken":
            raise OSError("down")
        return [skill("milk").frontmatter, skill("tea").frontmatter]


def pour() -> str:
    """Pour."""
    return "poured"


async def main() -> Any:
    """Return the events of a run, and the names of the tools in its requests."""
    with TemporaryDirectory() as folder:
        environment = LocalEnvironment(working_dir=Path(folder))
        toolset = SkillToolset([skill("tea")], registry=Cupboard(), environment=environment, additional_tools=[pour], script_timeout=20)
        boil = {"skill_name": "milk", "file_path": "scripts/boil.sh"}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search_skills", {"query": "drinks"}),
            ("search_skills", {"query": "broken"}),
            ("search_skills", {}),
            ("load_skill", {"skill_name": "milk"}),
            ("load_skill", {"skill_name": "tea"}),
            ("load_skill", {"skill_name": "wine"}),
            ("pour", {}),
            ("load_skill_resource", {"skill_name": "milk", "file_path": "references/kinds.md"}),
            ("run_skill_script", {**boil, "command": f"bash {folder}/skills/milk/scripts/boil.sh"}),
            ("run_skill_script", boil),
            ("run_skill_script", {**boil, "file_path": "scripts/no.sh", "command": "true"}),
            ("unload_skill", {"skill_name": "milk"}),
            ("unload_skill", {"skill_name": "milk"}),
            ("unload_skill", {}),
            ("unload_skill", {"skill_name": "tea"}),
        ]
        model = scripted(*([call] for call in calls), "done")
        found = await run(LlmAgent(name="cook", model=model, tools=[toolset]))
        declared = [tool._get_declaration() for tool in toolset._tools]
        found["declared"] = [one.model_dump(mode="json", exclude_none=True) for one in declared if one]
        told = [[part for content in request["contents"] for part in content["parts"]] for request in model.requests]
        found["tools"] = [request["tools"] for request in model.requests]
        found["told"] = told[-1]
        for event in found["events"]:
            event["parts"] = [with_fixed_folder(part, folder) for part in event["parts"]]
        found["told"] = [with_fixed_folder(part, folder) for part in found["told"]]
        return found


def with_fixed_folder(part: Any, folder: str) -> Any:
    """Return a part with a fixed name in place of the temporary folder's."""
    if isinstance(part, str):
        return part.replace(folder, "/folder")
    if isinstance(part, dict):
        return {key: with_fixed_folder(value, folder) for key, value in part.items()}
    return [with_fixed_folder(value, folder) for value in part] if isinstance(part, list) else part


if __name__ == "__main__":
    print_result(main)
