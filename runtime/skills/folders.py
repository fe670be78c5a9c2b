"""Skills in folders on this machine. Nothing outside a skill's folder is read, and nothing of it is run."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from runtime.errors.known_error import KnownError
from runtime.skills.models import Frontmatter, Resources, Script, Skill
from runtime.support.linkless import open_regular

MAX_FILE = 16 << 20  # bytes
MAX_SKILL = 32 << 20  # bytes of all files
MAX_FILES = 2000
_MAX_INSTRUCTIONS = 1 << 20  # bytes of SKILL.md
_DEEPEST = 50  # values inside each other in the head of SKILL.md

logger = logging.getLogger(__name__)


class SkillError(KnownError, ValueError):
    """A folder is no skill; the message names the file and the field."""


def load_skill_from_dir(skill_dir: str | Path) -> Skill:
    """Return the skill in a folder.

    Args:
        skill_dir: the folder, which has the skill's name.

    Raises:
        FileNotFoundError: there is no folder, or no SKILL.md in it.
        SkillError: SKILL.md is malformed, a file is too large, or a link leads out of the folder.
    """
    folder = Path(skill_dir).resolve()
    frontmatter, instructions = _read_skill_md(folder)
    files = {kind: _read_files(folder, kind) for kind in ("references", "assets", "scripts")}
    if sum(map(len, files.values())) > MAX_FILES or sum(len(data) for kind in files.values() for data in kind.values()) > MAX_SKILL:
        raise SkillError(f"{folder} has more than {MAX_FILES:,} files or {MAX_SKILL:,} bytes, so it is not loaded.")
    scripts = {}
    for path, text in files["scripts"].items():
        if isinstance(text, str):
            scripts[path] = Script(src=text)
        else:
            logger.warning("%s is no UTF-8 text, so it is left out of the skill.", folder / "scripts" / path)
    resources = Resources(references=files["references"], assets=files["assets"], scripts=scripts)
    return Skill(frontmatter=frontmatter, instructions=instructions, resources=resources)


def load_skills_from_dir(skills_dir: str | Path) -> list[Skill]:
    """Return the skills in the folders of a folder; a folder without SKILL.md is none.

    Args:
        skills_dir: the folder.

    Raises:
        FileNotFoundError: there is no such folder.
        SkillError: it is a file, or one of the skills is malformed.
    """
    folder = Path(skills_dir).resolve()
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if not folder.is_dir():
        raise SkillError(f"{folder} is a file, not a folder of skills.")
    return [load_skill_from_dir(below) for below in sorted(folder.iterdir()) if below.is_dir() and _skill_md(below) is not None]


def list_skills_in_dir(skills_base_path: str | Path, on_error: Callable[[str, Exception], None] | None = None) -> dict[str, Frontmatter]:
    """Return the descriptions of the skills in the folders of a folder.

    Args:
        skills_base_path: the folder. If there is none, a warning is logged.
        on_error: called with the name of a folder that is no skill, and the error; without it a warning is logged.

    Returns:
        Name → description.
    """
    base = Path(skills_base_path).resolve()
    if not base.is_dir():
        logger.warning("%s is not a folder.", base)
        return {}
    found = {}
    for folder in sorted(below for below in base.iterdir() if below.is_dir()):
        try:
            found[folder.name] = _read_skill_md(folder)[0]
        except (OSError, ValueError) as error:
            if on_error is None:
                logger.warning("The skill %r is left out: %s", folder.name, error)
            else:
                on_error(folder.name, error)
    return found


async def load_skill_from_dir_async(skill_dir: str | Path) -> Skill:
    """As `load_skill_from_dir`, on another thread."""
    return await asyncio.to_thread(load_skill_from_dir, skill_dir)


async def load_skills_from_dir_async(skills_dir: str | Path) -> list[Skill]:
    """As `load_skills_from_dir`, on another thread."""
    return await asyncio.to_thread(load_skills_from_dir, skills_dir)


async def list_skills_in_dir_async(
    skills_base_path: str | Path, on_error: Callable[[str, Exception], None] | None = None
) -> dict[str, Frontmatter]:
    """As `list_skills_in_dir`, on another thread."""
    return await asyncio.to_thread(list_skills_in_dir, skills_base_path, on_error)


def _skill_md(folder: Path) -> Path | None:
    return next((path for path in (folder / "SKILL.md", folder / "skill.md") if path.exists()), None)


def _read_skill_md(folder: Path) -> tuple[Frontmatter, str]:
    """Return the description and the instructions of a folder's SKILL.md."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    file = _skill_md(folder)
    if file is None:
        raise FileNotFoundError(f"There is no SKILL.md in {folder}.")
    text = _read(folder, file, _MAX_INSTRUCTIONS)
    parts = text.split("---", 2) if isinstance(text, str) and text.startswith("---") else []
    if len(parts) < 3:
        raise SkillError(f"{file} must be text that begins with YAML between two lines `---`.")
    try:
        frontmatter = Frontmatter.model_validate(_yaml_mapping(parts[1], file))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise SkillError(f"{file}, field {field}: {first['msg'].removeprefix('Value error, ')}.") from None
    if frontmatter.name != folder.name:
        raise SkillError(f"{file}, field name: it is {frontmatter.name}, and the folder is {folder.name}; they must be equal.")
    return frontmatter, parts[2].strip()


def _yaml_mapping(text: str, file: Path) -> dict[str, Any]:
    try:
        # A small file of aliases can repeat itself without end, and reading nested values takes the square of their depth.
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise SkillError(f"{file}: aliases (`*name`) are not read in the head of a skill.")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise SkillError(f"{file}: values in its head are nested more than {_DEEPEST} deep.")
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SkillError(f"{file}{where}: {error.problem}.") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, SkillError):
            raise
        raise SkillError(f"{file}: its head is no YAML that can be read ({type(error).__name__}).") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise SkillError(f"{file}: its head must be fields with values, such as `name: my-skill`.")
    return data


def _read_files(folder: Path, kind: str) -> dict[str, str | bytes]:
    """Return the files below one of a skill's folders by their paths with slashes."""
    top, found, total = folder / kind, {}, 0
    _check_inside(folder, top)
    for place, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in folders:
            _check_inside(folder, Path(place, name))
        for path in (Path(place, name) for name in sorted(names)):
            _check_inside(folder, path)
            if not path.is_file():
                continue
            data = found[path.relative_to(top).as_posix()] = _read(folder, path, MAX_FILE)
            total += len(data)
            if len(found) > MAX_FILES or total > MAX_SKILL:
                raise SkillError(f"{top} has more than {MAX_FILES:,} files or {MAX_SKILL:,} bytes, so the skill is not loaded.")
    return found


def _check_inside(folder: Path, path: Path) -> None:
    if not path.resolve().is_relative_to(folder):
        raise SkillError(f"{path} is a link that leads out of the skill's folder, so the skill is not loaded.")


def _read(folder: Path, path: Path, most: int) -> str | bytes:
    """Return a file's text, or its bytes if it is no UTF-8 text."""
    _check_inside(folder, path)
    try:
        with open_regular(path.resolve()) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise SkillError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(data) > most:
        raise SkillError(f"{path} is larger than {most:,} bytes, so the skill is not loaded.")
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return data
