"""The file artifact service: layout, invalid names, and concurrent or interrupted saves."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path

import pytest
from google.genai import types

from runtime.artifacts import FileArtifactService, file_artifact_service
from runtime.errors import StorageError
from runtime.errors.input_validation_error import InputValidationError
from runtime.support.linkless import OpenFolder
from tests.fixture_paths import fixtures_dir

SESSION = {"app_name": "a", "user_id": "u", "session_id": "s"}


def text(value: str) -> types.Part:
    return types.Part(text=value)


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.rule("R11")
@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/x",
        "a/../b",
        "C:x",
        "C:\\x",
        "\\\\host\\x",
        "..",
        "user:../x",
        "a\\..\\b",
        "a\0b",
        "",
        "  ",
        "user:",
        "/",
        "x" * 300,
        "\ud800",
    ],
)
async def test_every_method_rejects_invalid_names(tmp_path: Path, name: str) -> None:
    service = FileArtifactService(tmp_path / "root")
    for verb in (service.load_artifact, service.delete_artifact, service.list_versions, service.get_artifact_version):
        with pytest.raises(InputValidationError):
            await verb(**SESSION, filename=name)
    with pytest.raises(InputValidationError):
        await service.save_artifact(**SESSION, filename=name, artifact=text("x"))
    assert everything(tmp_path) == []


@pytest.mark.parametrize("name", ["versions", "a/Versions/0", "metadata.json", "x/METADATA.json", "versions. "])
async def test_reserved_names_are_rejected(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputValidationError, match="uses that name itself"):
        await FileArtifactService(tmp_path).save_artifact(**SESSION, filename=name, artifact=text("x"))


@pytest.mark.parametrize("field", ["app_name", "user_id", "session_id"])
@pytest.mark.parametrize("value", ["", ".", "..", "../s", "a/b", "a\\b", "a\0b", "C:x"])
async def test_invalid_ids_are_rejected(tmp_path: Path, field: str, value: str) -> None:
    with pytest.raises(InputValidationError):
        await FileArtifactService(tmp_path).save_artifact(**{**SESSION, field: value}, filename="a", artifact=text("x"))


async def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    service = FileArtifactService(tmp_path / "root")
    outside = tmp_path / "outside" / "versions" / "0"
    outside.mkdir(parents=True)
    (outside / "secret").write_text("secret")
    folder = tmp_path / "root/apps/a/users/u/sessions/s/artifacts"
    folder.mkdir(parents=True)
    (folder / "secret").symlink_to(tmp_path / "outside")
    with pytest.raises(InputValidationError, match="link"):
        await service.load_artifact(**SESSION, filename="secret")


async def test_names_may_contain_folders(tmp_path: Path) -> None:
    service = FileArtifactService(tmp_path)
    await service.save_artifact(**SESSION, filename="a\\b/c.txt", artifact=text("x"))
    assert await service.load_artifact(**SESSION, filename="a/b/c.txt") == text("x")
    assert everything(tmp_path) == [
        "apps/a/users/u/sessions/s/artifacts/a/b/c.txt/versions/0/c.txt",
        "apps/a/users/u/sessions/s/artifacts/a/b/c.txt/versions/0/metadata.json",
    ]


async def test_user_files_saved_without_a_session(tmp_path: Path) -> None:
    service = FileArtifactService(tmp_path)
    await service.save_artifact(app_name="a", user_id="u", filename="d", artifact=text("d"))
    assert await service.load_artifact(app_name="a", user_id="u", filename="d") == text("d")
    assert await service.list_artifact_keys(**SESSION) == ["user:d"]
    assert await service.load_artifact(**SESSION, filename="user:d") == text("d")


async def test_a_failed_save_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = FileArtifactService(tmp_path)
    await service.save_artifact(**SESSION, filename="a", artifact=text("first"))
    before = everything(tmp_path)

    def full(self: OpenFolder, old: str, new: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(StorageError, match="No space left"):
        patch.setattr(OpenFolder, "rename", full)
        await service.save_artifact(**SESSION, filename="a", artifact=text("second"))
    assert everything(tmp_path) == before
    assert await service.save_artifact(**SESSION, filename="a", artifact=text("second")) == 1


async def test_a_killed_save_is_never_read(tmp_path: Path) -> None:
    service = FileArtifactService(tmp_path)
    await service.save_artifact(**SESSION, filename="a", artifact=text("first"))
    (tmp_path / "apps/a/users/u/sessions/s/artifacts/a/versions/.1.pending").mkdir()
    assert await service.load_artifact(**SESSION, filename="a") == text("first")
    assert await service.list_versions(**SESSION, filename="a") == [0]
    assert await service.save_artifact(**SESSION, filename="a", artifact=text("next")) == 2


async def test_a_version_published_concurrently_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = FileArtifactService(tmp_path)
    for number in range(2):
        await service.save_artifact(**SESSION, filename="a", artifact=text(str(number)))
    with monkeypatch.context() as patch:
        patch.setattr(file_artifact_service, "_numbers", lambda folder: [0])  # the list before the other writer published its version
        assert await service.save_artifact(**SESSION, filename="a", artifact=text("2")) == 2
    assert [(await service.load_artifact(**SESSION, filename="a", version=version)) for version in range(3)] == [
        text("0"),
        text("1"),
        text("2"),
    ]


async def test_a_save_retries_if_the_file_is_deleted_concurrently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = FileArtifactService(tmp_path)
    deleted = []

    def lose_and_make(folder: OpenFolder, name: str) -> None:
        if not deleted:
            deleted.append(folder)
            shutil.rmtree(folder.path.parent)
        make(folder, name)

    make = OpenFolder.make_folder
    monkeypatch.setattr(OpenFolder, "make_folder", lose_and_make)
    assert await service.save_artifact(**SESSION, filename="a", artifact=text("x")) == 0
    assert deleted and await service.load_artifact(**SESSION, filename="a") == text("x")


async def test_an_unusable_root_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        FileArtifactService(tmp_path / "file" / "root")


def _save_many(root: str, name: str, count: int) -> None:
    import asyncio

    async def save() -> None:
        service = FileArtifactService(root)
        for number in range(count):
            await service.save_artifact(**SESSION, filename="log", artifact=text(f"{name}{number}"))

    asyncio.run(save())


async def test_concurrent_saves_by_processes_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_save_many, args=(str(tmp_path), name, 10)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    service = FileArtifactService(tmp_path)
    versions = await service.list_versions(**SESSION, filename="log")
    saved = [(await service.load_artifact(**SESSION, filename="log", version=version)).text for version in versions]
    assert sorted(saved) == sorted(f"{name}{number}" for name in "abc" for number in range(10))
    for name in "abc":  # the versions of one writer are in order
        assert [one for one in saved if one.startswith(name)] == [f"{name}{number}" for number in range(10)]


@pytest.mark.parametrize("folder", ["adk2.13.0-v1-rewind.artifacts", "adk1.39.1-v1-rewind.artifacts"])
async def test_google_adks_folders_are_read(folder: str) -> None:
    root = fixtures_dir() / "open" / folder
    service = FileArtifactService(root)
    names = {"app_name": "undo", "user_id": "u", "session_id": "s"}
    assert await service.list_artifact_keys(**names) == ["note.txt", "user:card.txt"]
    assert await service.list_versions(**names, filename="note.txt") == [0, 1, 2]
    stored = root / "apps/undo/users/u/sessions/s/artifacts/note.txt/versions"
    for version in range(3):
        assert await service.load_artifact(**names, filename="note.txt", version=version) == text(
            (stored / f"{version}/note.txt").read_text()
        )


async def test_metadata_has_google_adks_format(tmp_path: Path) -> None:
    service = FileArtifactService(tmp_path)
    await service.save_artifact(**SESSION, filename="a", artifact=text("x"), custom_metadata={"snake_key": 1})
    path = tmp_path / "apps/a/users/u/sessions/s/artifacts/a/versions/0/metadata.json"
    written = json.loads(path.read_text())
    original = json.loads(
        (
            fixtures_dir() / "open/adk2.13.0-v1-artifacts.artifacts/apps/notes/users/u/sessions/s/artifacts/a.txt/versions/0/metadata.json"
        ).read_text()
    )
    assert written.keys() == original.keys() and {key: type(value) for key, value in written.items()} == {
        key: type(value) for key, value in original.items()
    }
    assert written["customMetadata"] == {"snake_key": 1}
    assert path.stat().st_mode == (path.parent / "a").stat().st_mode
    assert [version.name for version in path.parent.parent.iterdir()] == ["0"]
