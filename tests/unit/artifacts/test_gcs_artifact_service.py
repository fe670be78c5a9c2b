"""Artifacts in a bucket: names, concurrent writers, and failures of the network."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.genai import types

from runtime.errors import StorageError
from runtime.errors.input_validation_error import InputValidationError
from runtime.errors.missing_package_error import MissingPackageError
from tests import sweep
from tests.gcs import BUCKET, failing_in_front_of, storage_server, used_by_clients

storage = pytest.importorskip("google.cloud.storage")

from runtime.artifacts import GcsArtifactService, gcs_artifact_service  # noqa: E402  # after the check

SESSION = {"app_name": "a", "user_id": "u", "session_id": "s"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with storage_server() as address:
        yield address


@pytest.fixture
def user(request: pytest.FixtureRequest) -> dict[str, str]:
    return {**SESSION, "user_id": request.node.name}


def text(value: str) -> types.Part:
    return types.Part(text=value)


async def test_objects_have_google_adks_names(address: str, user: dict[str, str]) -> None:
    with used_by_clients(address):
        service = GcsArtifactService(BUCKET)
        await service.save_artifact(**user, filename="dir/a.txt", artifact=text("x"))
        await service.save_artifact(**user, filename="dir/a.txt", artifact=text("y"))
        await service.save_artifact(**user, filename="dir", artifact=text("z"))
        await service.save_artifact(**user, filename="user:card", artifact=text("c"))
        of_user = f"a/{user['user_id']}"
        names = sorted(blob.name for blob in service.storage_client.list_blobs(BUCKET, prefix=of_user))
        assert names == [f"{of_user}/s/dir/0", f"{of_user}/s/dir/a.txt/0", f"{of_user}/s/dir/a.txt/1", f"{of_user}/user/user:card/0"]
        assert await service.list_versions(**user, filename="dir") == [0]
        assert await service.list_artifact_keys(**user) == ["dir", "dir/a.txt", "user:card"]
        (version,) = await service.list_artifact_versions(**user, filename="dir")
        assert version.canonical_uri == f"gs://{BUCKET}/{of_user}/s/dir/0"


async def test_a_session_cannot_have_the_name_of_the_users_folder(address: str, user: dict[str, str]) -> None:
    with used_by_clients(address), pytest.raises(InputValidationError, match="'user' cannot be used"):
        await GcsArtifactService(BUCKET).save_artifact(**{**user, "session_id": "user"}, filename="a", artifact=text("x"))


async def test_the_uri_of_a_file_is_kept(address: str, user: dict[str, str]) -> None:
    part = types.Part(file_data=types.FileData(file_uri="gs://elsewhere/x.png", mime_type="image/png"))
    with used_by_clients(address):
        service = GcsArtifactService(BUCKET)
        await service.save_artifact(**user, filename="a", artifact=part, custom_metadata={"k": 1, "adkFileUri": "gs://wrong"})
        assert await service.load_artifact(**user, filename="a") == part
        assert (await service.list_artifact_versions(**user, filename="a"))[0].custom_metadata == {"k": "1"}


async def test_writers_at_once_get_different_versions(address: str, user: dict[str, str]) -> None:
    with failing_in_front_of(address, []) as server, used_by_clients(server):
        services = [GcsArtifactService(BUCKET) for _ in range(4)]
        saved = await asyncio.gather(*(services[n % 4].save_artifact(**user, filename="a", artifact=text(str(n))) for n in range(12)))
        assert sorted(saved) == list(range(12))
        found = [await services[0].load_artifact(**user, filename="a", version=saved[n]) for n in range(12)]
        assert found == [text(str(n)) for n in range(12)]


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "lost"])
@pytest.mark.parametrize("before", [0, 1])
async def test_a_failure_on_the_way_is_repeated_and_nothing_is_saved_twice(
    address: str, user: dict[str, str], fault: str, before: int
) -> None:
    with failing_in_front_of(address, [*["ok"] * before, fault]) as failing, used_by_clients(failing):
        service = GcsArtifactService(BUCKET)
        assert await service.save_artifact(**user, filename="a", artifact=text("x")) == 0
        assert await service.list_versions(**user, filename="a") == [0]
        assert await service.save_artifact(**user, filename="a", artifact=text("x")) == 1
        assert await service.load_artifact(**user, filename="a") == text("x")


@pytest.mark.parametrize("before", [0, 1])
async def test_a_slow_answer_is_given_up_and_asked_for_again(
    address: str, user: dict[str, str], monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    with failing_in_front_of(address, [*["ok"] * before, "slow"]) as slow, used_by_clients(slow):
        service = GcsArtifactService(BUCKET)
        monkeypatch.setattr(gcs_artifact_service, "SECONDS", 0.5)
        assert await service.save_artifact(**user, filename="a", artifact=text("x")) == 0
        assert await service.list_versions(**user, filename="a") == [0]
        assert await service.load_artifact(**user, filename="a") == text("x")


@pytest.mark.sweep
async def test_a_file_with_many_versions_is_listed_in_order_and_continued(address: str, user: dict[str, str]) -> None:
    many = sweep.count(40, 1_000)
    with used_by_clients(address):
        service = GcsArtifactService(BUCKET)
        folder = f"a/{user['user_id']}/s/a"
        with ThreadPoolExecutor(4) as pool:  # as other programs save them: one after the other would take minutes
            list(pool.map(lambda n: service.bucket.blob(f"{folder}/{n}").upload_from_string(str(n), "text/plain"), range(many)))
        assert await service.list_versions(**user, filename="a") == list(range(many))
        assert await service.save_artifact(**user, filename="a", artifact=text("newest")) == many
        assert await service.load_artifact(**user, filename="a") == text("newest")
        assert await service.list_artifact_keys(**user) == ["a"]


async def test_a_lasting_failure_is_one_sentence(address: str, user: dict[str, str]) -> None:
    with failing_in_front_of(address, ["403"]) as failing, used_by_clients(failing):
        service = GcsArtifactService(BUCKET)
        with pytest.raises(StorageError, match=f"written at gs://{BUCKET}: the server answered 403 Forbidden"):
            await service.save_artifact(**user, filename="a", artifact=text("x"))
    with used_by_clients(address), pytest.raises(StorageError, match="The bucket gs://no-such-bucket does not exist"):
        await GcsArtifactService("no-such-bucket").save_artifact(**user, filename="a", artifact=text("x"))


def test_without_the_extra_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.cloud.storage", None)
    monkeypatch.delitem(sys.modules, "runtime.artifacts.gcs_artifact_service")
    with pytest.raises(MissingPackageError, match=r"pip install 'google-cloud-storage<4,>=2\.18'$"):
        importlib.import_module("runtime.artifacts.gcs_artifact_service")
