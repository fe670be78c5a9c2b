"""`SkillToolset`: what the model is offered and answered; names, schemas and results as google-adk 2.13 has them."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.code_executors import UnsafeLocalCodeExecutor
from runtime.environment import LocalEnvironment
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm, instruction_text
from runtime.skills import SkillRegistry
from runtime.skills.models import Frontmatter, Resources, Script, Skill
from runtime.tools import ToolContext
from runtime.tools.skill_toolset import SearchSkillsTool, SkillDiscoveryMode, SkillToolset
from tests.seeds.running import run, runner_for

pytestmark = pytest.mark.logs("The tool 'load_skill' of a skill is left out")

# Printed by google-adk 2.13.0.
DECLARATIONS = r"""
{"description": "Lists all available skills with their names and descriptions.", "name": "list_skills", "parameters_json_schema": {"type": "object", "properties": {}}}
{"description": "Loads the SKILL.md instructions for a given skill.", "name": "load_skill", "parameters_json_schema": {"type": "object", "properties": {"skill_name": {"type": "string", "description": "The name of the skill to load."}}, "required": ["skill_name"]}}
{"description": "Loads a resource file (from references/, assets/, or scripts/) from within a skill.", "name": "load_skill_resource", "parameters_json_schema": {"type": "object", "properties": {"skill_name": {"type": "string", "description": "The name of the skill."}, "file_path": {"type": "string", "description": "The relative path to the resource (e.g., 'references/my_doc.md', 'assets/template.txt', or 'scripts/setup.sh')."}}, "required": ["skill_name", "file_path"]}}
{"description": "Executes a script from a skill's scripts/ directory.", "name": "run_skill_script", "parameters_json_schema": {"type": "object", "properties": {"skill_name": {"type": "string", "description": "The name of the skill."}, "file_path": {"type": "string", "description": "The relative path to the script (e.g., 'scripts/setup.py')."}, "args": {"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "string"}}], "description": "Optional arguments to pass to the script as key-value pairs (long options) or as a list of strings. If specified as a list, it is treated as the complete list of arguments, and 'short_options' and 'positional_args' must not be provided."}, "short_options": {"type": "object", "description": "Optional short options (single hyphen) to pass to the script as key-value pairs. Must not be provided if 'args' is a list."}, "positional_args": {"type": "array", "items": {"type": "string"}, "description": "Optional positional arguments to pass to the script. Must not be provided if 'args' is a list."}}, "required": ["skill_name", "file_path"]}}
"""  # noqa: E501


def pour(cups: int) -> str:
    """Pours tea."""
    return f"{cups} cups"


def tea(**changed: Any) -> Skill:
    """Return a skill with a file of each kind."""
    head = {"name": "tea", "description": "Makes tea.", "metadata": {"adk_additional_tools": ["pour", "load_skill", "no_such_tool"]}}
    shell = Script(src="cat references/kinds.md; echo $* >&2; exit 3")
    python = Script(src="import sys\nprint(open('references/kinds.md').read(), sys.argv)\nif __name__ == '__main__': print('main')")
    scripts = {"boil.py": python, "wait.sh": shell, "out.sh": Script(src="echo fine"), "fail.py": Script(src="1 / 0"), "x.rb": shell}
    resources = Resources(references={"kinds.md": "green", "leaf.png": b"\x89PNG"}, assets={"cup.txt": "cup"}, scripts=scripts)
    return Skill(frontmatter=Frontmatter(**{**head, **changed}), instructions="Boil {water?}.", resources=resources)


async def answers(toolset: SkillToolset, *calls: tuple[str, dict[str, Any]]) -> tuple[Any, ...]:
    """Run an agent whose model makes the calls; return the answers to them, and its requests."""
    seen: list[LlmRequest] = []

    def note(request: LlmRequest, reply: Any) -> Any:
        seen.append(request)
        return reply

    replies = [*(Reply(calls=[call]) for call in calls), "done"]
    model = ScriptedLlm(replies=[lambda request, reply=reply: note(request, reply) for reply in replies])
    events = await run(runner_for(LlmAgent(name="cook", model=model, tools=[toolset])))
    return [response.response for event in events for response in event.get_function_responses()], seen, events


def names(request: LlmRequest) -> list[str]:
    return [declared.name for tool in request.config.tools or [] for declared in tool.function_declarations]  # type: ignore[union-attr, misc]


async def test_the_tools_are_declared_as_by_google_adk() -> None:
    toolset = SkillToolset([tea()], code_executor=UnsafeLocalCodeExecutor())
    declared = [tool._get_declaration() for tool in await toolset.get_tools()]
    ours = [one.model_dump(exclude_none=True, mode="json") for one in declared if one]
    assert ours == [json.loads(line) for line in DECLARATIONS.strip().splitlines()]


async def test_a_loaded_skill_brings_its_tools_and_is_recorded_in_the_session() -> None:
    toolset = SkillToolset([tea()], additional_tools=[pour])
    calls: tuple[tuple[str, dict[str, Any]], ...]
    calls = (("list_skills", {}), ("load_skill", {"skill_name": "tea"}), ("pour", {"cups": 2}), ("load_skill", {"skill_name": "milk"}))
    (listed, loaded, poured, unknown), seen, events = await answers(toolset, *calls)
    assert "<name>\ntea\n</name>" in listed["result"]
    assert loaded == {"skill_name": "tea", "instructions": "Boil {water?}.", "frontmatter": tea().frontmatter.model_dump()}
    assert poured == {"result": "2 cups"}
    assert unknown == {"error": "Skill 'milk' not found.", "error_code": "SKILL_NOT_FOUND"}
    core = ["list_skills", "load_skill", "load_skill_resource"]  # without an executor there is no tool for programs
    assert [names(request) for request in seen[:3]] == [core, core, [*core, "pour"]]
    assert "You cannot run them" in instruction_text(seen[0])
    assert "available_skills" not in instruction_text(seen[0])
    assert [event.actions.state_delta for event in events if event.actions.state_delta] == [{"_adk_activated_skill_cook": ["tea"]}]


async def test_state_in_instructions_and_dates_in_metadata() -> None:
    skill = tea(metadata={"adk_inject_state": True, "since": datetime.date(2026, 1, 2)})
    (loaded,), _, _ = await answers(SkillToolset([skill]), ("load_skill", {"skill_name": "tea"}))
    assert (loaded["instructions"], loaded["frontmatter"]["metadata"]["since"]) == ("Boil .", "2026-01-02")


async def test_files_of_a_skill() -> None:
    paths = ["references/kinds.md", "assets/cup.txt", "scripts/x.rb", "SKILL.md", "references/../SKILL.md", "assets/none"]
    calls = [("load_skill_resource", {"skill_name": "tea", "file_path": path}) for path in [*paths, "references/leaf.png"]]
    (kinds, cup, script, outside, upward, missing, leaf), seen, _ = await answers(SkillToolset([tea()]), *calls)
    assert kinds == {"skill_name": "tea", "file_path": "references/kinds.md", "content": "green"}
    assert (cup["content"], script["content"][:3]) == ("cup", "cat")
    assert outside["error_code"] == "INVALID_RESOURCE_PATH"
    assert upward == {"error": "Resource 'references/../SKILL.md' not found in skill 'tea'.", "error_code": "RESOURCE_NOT_FOUND"}
    assert missing["error_code"] == "RESOURCE_NOT_FOUND_FATAL"
    assert "#2 this invocation" in missing["error"]
    assert "content" not in leaf
    shown = seen[-1].contents[-1].parts[-1].inline_data
    assert shown is not None
    assert (shown.data, shown.mime_type) == (b"\x89PNG", "image/png")


async def test_missing_arguments_are_reported() -> None:
    (nothing, half), _, _ = await answers(SkillToolset([tea()]), ("load_skill", {}), ("load_skill_resource", {"skill_name": ""}))
    assert nothing == {"error": "Argument 'skill_name' is required.", "error_code": "INVALID_ARGUMENTS"}
    assert half["error"].splitlines() == ["Argument 'skill_name' is required.", "Argument 'file_path' is required."]


async def test_programs_of_a_skill() -> None:
    def call(path: str, **more: Any) -> tuple[str, dict[str, Any]]:
        return "run_skill_script", {"skill_name": "tea", "file_path": path, **more}

    toolset = SkillToolset([tea()], code_executor=UnsafeLocalCodeExecutor(timeout_seconds=20))
    given, _, _ = await answers(
        toolset,
        call("scripts/boil.py", args={"cups": 2}, short_options={"v": 1}, positional_args=["now"]),
        call("wait.sh", args=["a b", "c"]),
        call("out.sh"),
        call("fail.py"),
        call("x.rb"),
        call("../boil.py"),
        call("boil.py", args=["x"], positional_args=["y"]),
    )
    python, shell, fine, failed, ruby, outside, wrong = given
    argv = ["scripts/boil.py", "--cups", "2", "-v", "1", "--", "now"]
    told = {"skill_name": "tea", "file_path": "scripts/boil.py", "stdout": f"green {argv}\nmain\n", "stderr": "", "status": "success"}
    assert python == told
    assert (shell["stdout"], shell["stderr"], shell["status"]) == ("green", "a b c\nExit code 3", "error")
    assert (fine["stdout"], fine["stderr"], fine["status"]) == ("fine\n", "", "success")
    assert failed["status"] == "error"
    assert "ZeroDivisionError" in failed["stderr"]
    assert ruby == {"error": "Unsupported script type '.rb'. Supported types: .py, .sh, .bash", "error_code": "UNSUPPORTED_SCRIPT_TYPE"}
    assert outside["error_code"] == "SCRIPT_NOT_FOUND"
    assert wrong["error_code"] == "INVALID_ARGUMENTS"


async def test_a_skill_whose_files_lead_out_of_its_folder_is_not_run() -> None:
    skill = tea()
    skill.resources.assets["../../planted"] = "x"
    toolset = SkillToolset([skill], code_executor=UnsafeLocalCodeExecutor())
    (given,), _, _ = await answers(toolset, ("run_skill_script", {"skill_name": "tea", "file_path": "out.sh"}))
    assert given["error_code"] == "EXECUTION_ERROR"
    assert "assets/../../planted leads out of the skill's folder" in given["error"]


async def test_prefix_filter_and_discovery() -> None:
    eager = SkillToolset([tea()], discovery_mode=SkillDiscoveryMode.EAGER, tool_name_prefix="my")
    _, seen, _ = await answers(eager, ("my_load_skill", {"skill_name": "tea"}))
    assert names(seen[0]) == ["my_load_skill", "my_load_skill_resource"]
    assert "<name>\ntea\n</name>" in instruction_text(seen[0])
    assert "`my_load_skill`" in instruction_text(seen[0])
    _, seen, _ = await answers(SkillToolset([tea()], tool_filter=["load_skill"]))
    assert names(seen[0]) == ["load_skill"]
    assert "NOT available: `run_skill_script`, `load_skill_resource`, `list_skills`." in instruction_text(seen[0])


def test_what_needs_the_engine_or_is_wrong() -> None:
    with pytest.raises(EngineNeededError, match="lifecycle_config= of a SkillToolset needs google-adk"):
        SkillToolset(lifecycle_config=object())
    environment = LocalEnvironment()
    with pytest.raises(ValueError, match="has no code_executor"):
        SkillToolset(environment=environment, code_executor=UnsafeLocalCodeExecutor())
    with pytest.raises(ValueError, match="and there is none"):
        SkillToolset(skills_folder="/skills")
    with pytest.raises(ValueError, match="is no absolute path: 'skills'"):
        SkillToolset(environment=environment, skills_folder="skills")
    with pytest.raises(ValueError, match="two skills with the name 'tea'"):
        SkillToolset([tea(), tea()])
    with pytest.raises(ValueError, match="are functions, tools and toolsets, not int"):
        SkillToolset(additional_tools=[3])  # type: ignore[list-item]


class Cupboard(SkillRegistry):
    """Has any skill, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def get_skill(self, *, name: str) -> Skill:
        self.asked.append(name)
        if name == "none":
            raise LookupError("no such skill")
        return tea(name=name)

    async def search_skills(self, *, query: str) -> list[Frontmatter]:
        return [tea(name=query).frontmatter, tea().frontmatter]


async def test_a_registry_is_searched_and_asked_once_in_an_invocation() -> None:
    cupboard = Cupboard()
    toolset = SkillToolset([tea()], registry=cupboard, additional_tools=[pour])
    calls = [("search_skills", {"query": "milk"}), ("load_skill", {"skill_name": "milk"}), ("load_skill", {"skill_name": "none"})]
    (found, loaded, unknown), seen, _ = await answers(toolset, *calls)
    assert [one["name"] for one in found["result"]] == ["milk"]  # not the toolset's own
    assert loaded["skill_name"] == "milk"
    assert unknown == {"error": "Failed to fetch skill 'none' from registry: no such skill", "error_code": "REGISTRY_ERROR"}
    assert cupboard.asked == ["milk", "none"]
    assert "pour" in names(seen[-1])
    assert "`search_skills` finds further ones" in instruction_text(seen[0])
    with pytest.raises(ValueError, match="needs a toolset with a registry"):
        SearchSkillsTool(SkillToolset())


async def test_commands_run_where_the_skills_files_are(tmp_path: Path) -> None:
    def call(**more: Any) -> tuple[str, dict[str, Any]]:
        return "run_skill_script", {"skill_name": "tea", "file_path": "scripts/wait.sh", **more}

    toolset = SkillToolset([tea()], environment=LocalEnvironment(working_dir=tmp_path), script_timeout=20)
    (ran, changed, missing), seen, _ = await answers(
        toolset, call(command="cd skills/tea && sh scripts/wait.sh a b; rm scripts/x.rb"), call(command="ls skills/tea/scripts"), call()
    )
    assert ran == {"stdout": "green", "stderr": "a b\n", "exit_code": 0, "timed_out": False}
    assert "x.rb" not in changed["stdout"]  # the files are written once
    assert missing["error"] == "Argument 'command' is missing or is no text."
    assert f"`{tmp_path.as_posix()}/skills/<skill_name>/`" in instruction_text(seen[0])
    await toolset.close()
    assert not toolset.environment.is_initialized  # type: ignore[union-attr]


async def test_a_files_path_cannot_leave_the_skills_folder(tmp_path: Path) -> None:
    skill = tea()
    skill.resources.assets["../../../out.txt"] = "out"
    toolset = SkillToolset([skill], environment=LocalEnvironment(working_dir=tmp_path / "inner"))
    call = ("run_skill_script", {"skill_name": "tea", "file_path": "scripts/wait.sh", "command": "true"})
    (refused,), _, _ = await answers(toolset, call)
    assert refused["error_code"] == "EXECUTION_ERROR"
    assert "leads out of the skill's folder" in refused["error"]
    assert not list(tmp_path.rglob("out.txt"))  # noqa: ASYNC240 - a temporary folder


async def test_a_released_skill_takes_its_tools_and_instructions_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADK_ENABLE_SKILL_LIFECYCLE", "1")
    toolset = SkillToolset([tea()], additional_tools=[pour])
    calls = [("load_skill", {"skill_name": "tea"}), ("unload_skill", {"skill_name": "tea"}), ("unload_skill", {"skill_name": "tea"})]
    (loaded, released, again), seen, _ = await answers(toolset, *calls)
    assert loaded["instructions"] == "Boil {water?}."
    assert released == {"skill_name": "tea", "unloaded": True, "active_skills": []}
    assert again == {"error": "Skill 'tea' is not active.", "error_code": "SKILL_NOT_ACTIVE"}
    assert ["pour" in names(request) for request in seen] == [False, True, False, False]
    shown = [part.function_response.response for content in seen[2].contents for part in content.parts or [] if part.function_response]
    assert (shown[0] or {})["status"] == "unloaded"
    assert "instructions" not in (shown[0] or {})


async def test_code_loads_and_releases_skills() -> None:
    toolset, done = SkillToolset([tea()], additional_tools=[pour]), []

    async def prepare(tool_context: ToolContext) -> None:
        with pytest.raises(ValueError, match="Skill 'milk' not found"):
            await toolset.load_skill(tool_context, "milk")
        done.append([await toolset.load_skill(tool_context, "tea"), await toolset.load_skill(tool_context, "tea")])
        done.append([toolset.unload_skill(tool_context, "milk"), toolset.list_active_skills(tool_context)])
        done.append([toolset.unload_skill(tool_context, "tea"), toolset.list_active_skills(tool_context)])

    model = ScriptedLlm(replies=[Reply(calls=[("prepare", {})]), "done"])
    await run(runner_for(LlmAgent(name="cook", model=model, tools=[toolset, prepare])))
    assert done == [[True, False], [False, ["tea"]], [True, []]]
    assert [skill.name for skill in toolset.clone_with_updated_skills([tea(name="milk")]).skills] == ["milk"]
