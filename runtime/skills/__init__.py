"""Skills: folders of instructions, files and scripts that a model reads when it needs them."""

from runtime.skills.cloud import (
    list_skills_in_gcs_dir,
    list_skills_in_gcs_dir_async,
    load_skill_from_gcs_dir,
    load_skill_from_gcs_dir_async,
)
from runtime.skills.folders import (
    SkillError,
    list_skills_in_dir,
    list_skills_in_dir_async,
    load_skill_from_dir,
    load_skill_from_dir_async,
    load_skills_from_dir,
    load_skills_from_dir_async,
)
from runtime.skills.models import Frontmatter, Resources, Script, Skill
from runtime.skills.prompt import DEFAULT_SKILL_SYSTEM_INSTRUCTION, format_skills_as_xml
from runtime.skills.skill_registry import SkillRegistry

__all__ = [
    "DEFAULT_SKILL_SYSTEM_INSTRUCTION",
    "Frontmatter",
    "Resources",
    "Script",
    "Skill",
    "SkillError",
    "SkillRegistry",
    "format_skills_as_xml",
    "list_skills_in_dir",
    "list_skills_in_dir_async",
    "list_skills_in_gcs_dir",
    "list_skills_in_gcs_dir_async",
    "load_skill_from_dir",
    "load_skill_from_dir_async",
    "load_skill_from_gcs_dir",
    "load_skill_from_gcs_dir_async",
    "load_skills_from_dir",
    "load_skills_from_dir_async",
]
