"""What a model reads about skills."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

from runtime.skills.models import Frontmatter, Skill

CORE_TOOLS = ("run_skill_script", "load_skill_resource", "load_skill", "list_skills")

_WHAT_SKILLS_ARE = """\
There are 'skills' for special tasks. Use them only through the skill tools.

A skill is a folder with instructions and files:
- **SKILL.md**: the skill's description and its instructions, in Markdown.
- **references/** (optional): further documentation and examples.
- **assets/** (optional): templates and other material that the skill uses.
"""


def format_skills_as_xml(skills: Sequence[Frontmatter | Skill]) -> str:
    """Return the names and descriptions of skills as XML.

    Args:
        skills: the skills, or only their descriptions.
    """
    lines = ["<available_skills>"]
    for skill in skills:
        lines += ["<skill>", "<name>", html.escape(skill.name), "</name>"]
        lines += ["<description>", html.escape(skill.description), "</description>", "</skill>"]
    return "\n".join([*lines, "</available_skills>"])


def skill_instruction(
    prefix: str | None = None, offered: Collection[str] = CORE_TOOLS, runs_scripts: bool = True, folder: str | None = None
) -> str:
    """Return the paragraph of a system instruction that explains skills.

    Args:
        prefix: the toolset's prefix of tool names.
        offered: the names of the skill tools that the model has, without the prefix.
        runs_scripts: scripts can be run.
        folder: where the skills' files are in the environment that runs commands.
    """
    before = f"{prefix}_" if prefix else ""
    run, resource, load, _ = (f"`{before}{name}`" for name in CORE_TOOLS)
    scripts = "programs that can be run." if runs_scripts else f"programs. You cannot run them: read one with {resource} and follow it."
    steps = [
        f'If a skill may fit the user\'s request, you MUST first read its instructions: call {load} with `skill_name="<SKILL_NAME>"`.',
        "Then follow the instructions exactly, all their steps in their order, before you answer.",
        f"{resource} shows the files of a skill (`references/*`, `assets/*`, `scripts/*`), and ONLY those: never use it for files that the"
        " user gave you, and never use another tool for a skill's files.",
        f"If {resource} returns an error, do not try any path again: report the error to the user and stop.",
        f"Reading a skill does NOT end your turn. After {load} continue in the SAME turn: call the tools that the skill's steps need, then"
        " write your answer. Never end your turn with an empty answer after you have loaded a skill.",
    ]
    if runs_scripts:
        steps[3:3] = [f"{run} runs a program of a skill's `scripts/` folder. Read it first with {resource} if you need to."]
        steps[5:5] = [
            f"If {run} returns an error, such as `SCRIPT_NOT_FOUND`, do not run the script again and do not guess another path: report the"
            " error to the user and stop."
        ]
    if runs_scripts and folder is not None:
        steps.append(
            f"The `command` of {run} runs in an environment that has the skill's files below `{folder}/<skill_name>/`: begin their"
            f" paths with that, such as `{folder}/<skill_name>/scripts/<script_name>`."
        )
    numbered = "".join(f"{number}. {step}\n" for number, step in enumerate(steps, 1))
    text = f"{_WHAT_SKILLS_ARE}- **scripts/** (optional): {scripts}\n\nThis is very important:\n\n{numbered}"
    if "unload_skill" in offered:
        text += (
            f"\nWhen a skill's work is done and neither its instructions nor its tools are needed, `{before}unload_skill` releases it; you"
            f" would have to call {load} again to use it. You need not do so, and never only because you loaded it.\n"
        )
    missing = [f"`{before}{name}`" for name in CORE_TOOLS if name not in offered]
    if missing:
        text += (
            f"\n\nThese tools are NOT available: {', '.join(missing)}. Do NOT call them. Apply a loaded skill's instructions yourself, and"
            " write your answer as plain text, never inside a tool call.\n"
        )
    return text


DEFAULT_SKILL_SYSTEM_INSTRUCTION = skill_instruction()
