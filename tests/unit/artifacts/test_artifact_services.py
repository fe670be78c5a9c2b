"""The tests that every artifact service must pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime import artifacts
from runtime.artifacts import BaseArtifactService, FileArtifactService, InMemoryArtifactService
from runtime.artifacts.base_artifact_service import ERASED, ensure_part
from runtime.errors import UnstorableValueError
from runtime.errors.input_validation_error import InputValidationError
from tests.gcs import BUCKET, storage_server, used_by_clients

SESSION = {"app_name": "a", "user_id": "u", "session_id": "s"}


@pytest.fixture(params=["memory", "files", "bucket"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseArtifactService]:
    if request.param != "bucket":
        yield InMemoryArtifactService() if request.param == "memory" else FileArtifactService(root_dir=tmp_path / "root")
        return
    pytest.importorskip("google.cloud.storage")
    with storage_server() as address, used_by_clients(address):
        yield artifacts.GcsArtifactService(BUCKET)


def text(value: str) -> types.Part:
    return types.Part(text=value)


@pytest.mark.rule("R11")
async def test_versions_count_from_zero_and_the_newest_is_loaded(service: BaseArtifactService) -> None:
    assert await service.save_artifact(**SESSION, filename="a.txt", artifact=text("one\r\n")) == 0
    assert await service.save_artifact(**SESSION, filename="a.txt", artifact=text("two")) == 1
    assert await service.load_artifact(**SESSION, filename="a.txt") == text("two")
    assert await service.load_artifact(**SESSION, filename="a.txt", version=0) == text("one\r\n")
    assert await service.list_versions(**SESSION, filename="a.txt") == [0, 1]


async def test_missing_files_and_versions_are_none(service: BaseArtifactService) -> None:
    await service.save_artifact(**SESSION, filename="a.txt", artifact=text("one"))
    assert await service.load_artifact(**SESSION, filename="other") is None
    for version in (-1, 1, 7):
        assert await service.load_artifact(**SESSION, filename="a.txt", version=version) is None
        assert await service.get_artifact_version(**SESSION, filename="a.txt", version=version) is None
    assert await service.get_artifact_version(**SESSION, filename="other") is None
    assert await service.list_versions(**SESSION, filename="other") == []


async def test_bytes_keep_type_and_display_name(service: BaseArtifactService) -> None:
    part = types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png", display_name="photo"))
    await service.save_artifact(**SESSION, filename="p", artifact=part)
    assert await service.load_artifact(**SESSION, filename="p") == part


async def test_user_files_are_shared_by_that_users_sessions_only(service: BaseArtifactService) -> None:
    await service.save_artifact(**SESSION, filename="user:card", artifact=text("c"))
    await service.save_artifact(**SESSION, filename="note", artifact=text("n"))
    other = {**SESSION, "session_id": "s2"}
    assert await service.load_artifact(**other, filename="user:card") == text("c")
    assert await service.list_artifact_keys(**SESSION) == ["note", "user:card"]
    assert await service.list_artifact_keys(**other) == ["user:card"]
    assert await service.list_artifact_keys(app_name="a", user_id="u") == ["user:card"]
    assert await service.list_artifact_keys(app_name="a", user_id="v", session_id="s") == []
    assert await service.list_artifact_keys(app_name="b", user_id="u", session_id="s") == []


@pytest.mark.rule("R11")
async def test_metadata_of_versions(service: BaseArtifactService) -> None:
    await service.save_artifact(**SESSION, filename="a", artifact=text("x"))
    await service.save_artifact(
        **SESSION, filename="a", artifact=types.Part.from_bytes(data=b"x", mime_type="image/png"), custom_metadata={"k": 1}
    )
    first, second = await service.list_artifact_versions(**SESSION, filename="a")
    assert (first.version, first.custom_metadata) == (0, {})
    kept = {"k": 1} if isinstance(service, InMemoryArtifactService | FileArtifactService) else {"k": "1"}  # a bucket keeps texts
    assert (second.version, second.custom_metadata, second.mime_type) == (1, kept, "image/png")
    assert first.create_time <= second.create_time and first.canonical_uri != second.canonical_uri
    assert await service.get_artifact_version(**SESSION, filename="a") == second
    assert await service.get_artifact_version(**SESSION, filename="a", version=0) == first


async def test_delete_removes_all_versions_of_one_file(service: BaseArtifactService) -> None:
    for name in ("doc", "doc/nested", "user:doc"):
        await service.save_artifact(**SESSION, filename=name, artifact=text(name))
    await service.delete_artifact(**SESSION, filename="doc")
    await service.delete_artifact(**SESSION, filename="never there")
    assert await service.list_artifact_keys(**SESSION) == ["doc/nested", "user:doc"]
    assert await service.load_artifact(**SESSION, filename="doc") is None
    assert await service.save_artifact(**SESSION, filename="doc", artifact=text("again")) == 0


async def test_an_erased_file_loads_as_none_but_an_empty_file_does_not(service: BaseArtifactService) -> None:
    await service.save_artifact(**SESSION, filename="gone", artifact=ERASED)
    await service.save_artifact(**SESSION, filename="blank", artifact=text(""))
    assert await service.load_artifact(**SESSION, filename="gone") is None
    assert await service.load_artifact(**SESSION, filename="blank") == text("")


async def test_a_part_may_be_given_as_json(service: BaseArtifactService) -> None:
    await service.save_artifact(**SESSION, filename="a", artifact={"text": "x"})
    assert await service.load_artifact(**SESSION, filename="a") == text("x")


@pytest.mark.parametrize("artifact", [types.Part(function_call=types.FunctionCall(name="f")), {"text": 3}, types.Part()])
async def test_parts_that_are_not_files_are_rejected(service: BaseArtifactService, artifact: Any) -> None:
    with pytest.raises(InputValidationError):
        await service.save_artifact(**SESSION, filename="a", artifact=artifact)
    assert await service.list_artifact_keys(**SESSION) == []
    assert await service.load_artifact(**SESSION, filename="a") is None


async def test_metadata_must_be_json(service: BaseArtifactService) -> None:
    with pytest.raises(UnstorableValueError, match="custom_metadata"):
        await service.save_artifact(**SESSION, filename="a", artifact=text("x"), custom_metadata={"k": object()})


async def test_saved_and_loaded_parts_are_copies(service: BaseArtifactService) -> None:
    part = types.Part.from_bytes(data=b"x", mime_type="image/png")
    await service.save_artifact(**SESSION, filename="a", artifact=part)
    part.inline_data.mime_type = "changed"
    loaded = await service.load_artifact(**SESSION, filename="a")
    loaded.inline_data.mime_type = "changed"
    again = await service.load_artifact(**SESSION, filename="a")
    assert again.inline_data.mime_type == "image/png"


def test_a_part_stays_the_part_that_it_is() -> None:
    part = types.Part(text="a")
    assert ensure_part(part) is part and ensure_part({"text": "a"}) == part


@pytest.mark.parametrize("which", ["app_name", "user_id", "session_id"])
@pytest.mark.parametrize("value", ["", " ", ".", "..", "../out", "a/../../b", "a\\..\\b", "/etc", "\\etc", "C:x", "a\0b"])
async def test_ids_that_lead_out_of_a_folder_are_refused_in_memory_too(which: str, value: str) -> None:
    service, names = InMemoryArtifactService(), {"app_name": "a", "user_id": "u", "session_id": "s", which: value}
    with pytest.raises(InputValidationError, match="cannot be used for artifacts"):
        await service.save_artifact(**names, filename="f", artifact=types.Part(text="x"))
    with pytest.raises(InputValidationError):
        await service.load_artifact(**names, filename="f")
    with pytest.raises(InputValidationError):
        await service.list_artifact_keys(**names)
    with pytest.raises(InputValidationError):
        await service.delete_artifact(**names, filename="f")


async def test_an_id_with_a_slash_is_kept_in_memory() -> None:
    service, names = InMemoryArtifactService(), {"app_name": "a", "user_id": "group/u", "session_id": "s"}
    await service.save_artifact(**names, filename="f", artifact=types.Part(text="x"))
    assert await service.list_artifact_keys(**names) == ["f"]
