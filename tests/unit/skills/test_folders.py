"""Skills in folders: what is read, and the sentence that says why a folder is no skill."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.errors.engine_needed_error import EngineNeededError
from runtime.skills import (
    Frontmatter,
    Script,
    SkillError,
    folders,
    format_skills_as_xml,
    list_skills_in_dir,
    load_skill_from_dir,
    load_skill_from_gcs_dir,
    load_skills_from_dir,
    load_skills_from_dir_async,
)

HEAD = "---\nname: tea\ndescription: Makes tea.\nallowed-tools: kettle\nmetadata:\n  adk_additional_tools: [pour]\n---\n\n# Steps\nBoil.\n"


def skill(parent: Path, head: str = HEAD, name: str = "tea") -> Path:
    folder = parent / name
    (folder / "references" / "deep").mkdir(parents=True)
    (folder / "scripts" / "__pycache__").mkdir(parents=True)
    (folder / "SKILL.md").write_text(head)
    return folder


@pytest.mark.logs("binary.sh is no UTF-8 text")
def test_a_skill_is_read_with_its_files(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    (folder / "references" / "deep" / "kinds.md").write_bytes(b"green\r\nblack")
    (folder / "references" / "leaf.png").write_bytes(b"\x89PNG\xff")
    (folder / "scripts" / "boil.py").write_text("print(1)")
    (folder / "scripts" / "__pycache__" / "boil.pyc").write_text("x")
    (folder / "scripts" / "binary.sh").write_bytes(b"\xff")
    read = load_skill_from_dir(str(folder))
    assert (read.name, read.description, read.instructions) == ("tea", "Makes tea.", "# Steps\nBoil.")
    assert read.frontmatter.model_dump() == {
        "name": "tea",
        "description": "Makes tea.",
        "license": None,
        "compatibility": None,
        "allowed_tools": "kettle",
        "metadata": {"adk_additional_tools": ["pour"]},
    }
    assert read.resources.references == {"deep/kinds.md": "green\nblack", "leaf.png": b"\x89PNG\xff"}
    assert read.resources.scripts == {"boil.py": Script(src="print(1)")}
    assert read.resources.list_assets() == []


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("# Steps", "must be text that begins with YAML between two lines `---`."),
        ("---\nname: [tea\n---\n", "SKILL.md, line 3: "),
        ("---\nname: tea\n---\n", "SKILL.md, field description: Field required."),
        (HEAD.replace("tea\n", "Tea Pot\n", 1), "SKILL.md, field name: it must be lower-case letters"),
        (HEAD.replace("tea\n", "coffee\n", 1), "SKILL.md, field name: it is coffee, and the folder is tea; they must be equal."),
        (HEAD.replace("[pour]", "pour"), "SKILL.md, field metadata: adk_additional_tools must be a list of strings."),
        ("---\nname: &a tea\ndescription: *a\n---\n", "aliases (`*name`) are not read"),
        ("---\n- tea\n---\n", "its head must be fields with values"),
        ("---\nname: !!python/object/apply:os.getcwd []\n---\n", "could not determine a constructor"),
        ("---\nname: 2024-99-99\n---\n", "its head is no YAML that can be read (ValueError)."),
        ("---\nname: " + "[" * 5000 + "\n---\n", "nested more than 50 deep"),
    ],
)
def test_a_malformed_skill_is_reported_in_one_sentence(tmp_path: Path, head: str, told: str) -> None:
    with pytest.raises(SkillError) as caught:
        load_skill_from_dir(skill(tmp_path, head))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_what_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        load_skill_from_dir(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"There is no SKILL\.md in"):
        load_skill_from_dir(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        load_skills_from_dir(tmp_path / "none")
    with pytest.raises(EngineNeededError, match="Loading skills from Cloud Storage needs google-adk"):
        load_skill_from_gcs_dir("bucket", "tea")


@pytest.mark.parametrize("linked", ["references/secret.md", "references/deep/more", "assets", "SKILL.md"])
def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path, linked: str) -> None:
    folder, outside = skill(tmp_path / "skills"), tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(HEAD)
    (folder / linked).unlink(missing_ok=True)
    (folder / linked).symlink_to(outside / "secret.md" if linked.endswith(".md") else outside)
    with pytest.raises(SkillError, match="is a link that leads out of the skill's folder"):
        load_skill_from_dir(folder)


def test_a_link_to_the_skills_own_file_is_read(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    (folder / "references" / "own.md").symlink_to(folder / "SKILL.md")
    assert load_skill_from_dir(folder).resources.get_reference("own.md") == HEAD


def test_sizes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = skill(tmp_path)
    for number in range(3):
        (folder / "references" / f"{number}.md").write_text("x" * 10)
    monkeypatch.setattr(folders, "MAX_FILE", 9)
    with pytest.raises(SkillError, match="is larger than 9 bytes"):
        load_skill_from_dir(folder)
    monkeypatch.setattr(folders, "MAX_FILE", 10)
    monkeypatch.setattr(folders, "MAX_SKILL", 29)
    with pytest.raises(SkillError, match="more than 2,000 files or 29 bytes"):
        load_skill_from_dir(folder)
    monkeypatch.setattr(folders, "MAX_SKILL", 30)
    monkeypatch.setattr(folders, "MAX_FILES", 2)
    with pytest.raises(SkillError, match="more than 2 files"):
        load_skill_from_dir(folder)


async def test_a_folder_of_skills(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    skill(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.md").write_text("")
    assert [one.name for one in await load_skills_from_dir_async(tmp_path)] == ["tea"]
    assert [*list_skills_in_dir(tmp_path)] == ["tea"]
    assert "The skill 'empty' is left out: There is no SKILL.md in" in caplog.text
    wrong: list[str] = []
    list_skills_in_dir(tmp_path, lambda name, error: wrong.append(f"{name} {type(error).__name__}"))
    assert wrong == ["empty FileNotFoundError"]
    assert list_skills_in_dir(tmp_path / "none") == {}


def test_skills_as_xml() -> None:
    told = format_skills_as_xml([Frontmatter(name="tea", description="a < b")])
    assert told.split("\n") == [
        "<available_skills>",
        "<skill>",
        "<name>",
        "tea",
        "</name>",
        "<description>",
        "a &lt; b",
        "</description>",
        "</skill>",
        "</available_skills>",
    ]
    assert format_skills_as_xml([]) == "<available_skills>\n</available_skills>"
