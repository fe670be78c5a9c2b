"""Links, FIFOs, devices and huge files that another program planted inside an artifact folder are never opened."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from inspector_app.documents.session_files import copy_files, files_of
from runtime.artifacts import FileArtifactService
from runtime.artifacts.file_artifact_service import LARGEST_ARTIFACT
from runtime.errors import StorageError
from runtime.errors.input_validation_error import RefusedArtifactError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.forks.fork import Files, fork_session
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session import SessionKey
from runtime.support import linkless
from runtime.support.linkless import OpenFolder
from tests.unit.artifacts.test_file_artifact_service import SESSION, everything, text

SECRET = "the user's private key"
SCOPE = "apps/a/users/u/sessions/s/artifacts"
# Every component between the root and the file, and both files.
COMPONENTS = ["apps", "apps/a", "apps/a/users", f"{SCOPE}", f"{SCOPE}/doc", f"{SCOPE}/doc/versions", f"{SCOPE}/doc/versions/0"]
FILES = [f"{SCOPE}/doc/versions/0/doc", f"{SCOPE}/doc/versions/0/metadata.json"]

pytestmark = [pytest.mark.skipif(os.name == "nt", reason="needs links and FIFOs"), pytest.mark.timeout(30)]


@pytest.fixture(params=["descriptors", "paths"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How folders are opened: relative to their parent's descriptor, or by path as on Windows."""
    if request.param == "paths":
        monkeypatch.setattr(linkless, "_HAS_DESCRIPTORS", False)
    return str(request.param)


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    """A folder with one artifact, whose content is secret."""
    await FileArtifactService(tmp_path / "root").save_artifact(**SESSION, filename="doc", artifact=text(SECRET))
    return tmp_path / "root"


def link(path: Path, outside: Path) -> None:
    shutil.move(path, outside)
    path.symlink_to(outside)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def unix_socket(path: Path) -> None:
    path.unlink()
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket has at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(before)


def sparse(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(LARGEST_ARTIFACT + 1)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.rule("F1")
@pytest.mark.parametrize("component", [*COMPONENTS, *FILES])
async def test_no_component_may_be_a_link(root: Path, tmp_path: Path, component: str) -> None:
    link(root / component, tmp_path / "outside")
    service = FileArtifactService(root)
    for verb in (service.load_artifact, service.list_versions, service.get_artifact_version):
        if component == FILES[0] and verb != service.load_artifact:
            continue
        with pytest.raises(RefusedArtifactError, match="is not an artifact: it is a link"):
            await verb(**SESSION, filename="doc")
    before = everything(root.parent)
    with suppress(RefusedArtifactError):
        await service.list_artifact_keys(**SESSION)
    if component in COMPONENTS[:-1]:
        with pytest.raises(RefusedArtifactError):
            await service.save_artifact(**SESSION, filename="doc", artifact=text("new"))
        assert everything(root.parent) == before
    with suppress(RefusedArtifactError):
        await service.delete_artifact(**SESSION, filename="doc")
    outside = tmp_path / "outside"
    files = [outside] if outside.is_file() else [path for path in outside.rglob("*") if path.is_file()]
    assert len(files) == (2 if component in COMPONENTS else 1), "nothing behind the link was deleted"


@pytest.mark.parametrize("plant", [fifo, endless, unix_socket, sparse, folder])
@pytest.mark.parametrize("file", FILES)
async def test_special_and_huge_files_are_neither_read_nor_copied(
    root: Path, tmp_path: Path, file: str, plant: Callable[[Path], None]
) -> None:
    plant(root / file)
    service = FileArtifactService(root)
    if plant is sparse and file == FILES[1]:
        assert await service.list_artifact_keys(**SESSION) == ["doc"], "metadata of that size is as good as none"
    else:
        with pytest.raises(RefusedArtifactError, match="is not an artifact"):
            await service.load_artifact(**SESSION, filename="doc")
        with suppress(RefusedArtifactError):
            await service.list_artifact_keys(**SESSION)
    (tmp_path / "copy").mkdir()
    with OpenFolder.open(root) as opened, OpenFolder.open(tmp_path / "copy") as copy:
        skipped = opened.copy_into(copy, LARGEST_ARTIFACT)
    assert skipped == ([] if plant is folder else [root / file])
    assert everything(tmp_path / "copy") == [name for name in sorted(FILES) if name != file]


async def test_a_copy_of_a_database_leaves_links_out_and_names_them(tmp_path: Path, root: Path) -> None:
    shutil.move(root, tmp_path / "chat.artifacts")
    (tmp_path / "chat.artifacts" / "etc").symlink_to("/etc")
    (tmp_path / "chat.artifacts" / "apps" / "passwd").symlink_to("/etc/passwd")
    skipped = copy_files(str(tmp_path / "chat.db"), str(tmp_path / "copy.db"))
    assert skipped == [tmp_path / "chat.artifacts/apps/passwd", tmp_path / "chat.artifacts/etc"]
    assert everything(tmp_path / "copy.artifacts") == sorted(FILES)


async def test_a_copy_is_not_written_through_a_link(tmp_path: Path, root: Path) -> None:
    shutil.move(root, tmp_path / "chat.artifacts")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "copy.artifacts").symlink_to(tmp_path / "elsewhere")
    copy_files(str(tmp_path / "chat.db"), str(tmp_path / "copy.db"))
    assert everything(tmp_path / "elsewhere") == []


async def test_the_folder_beside_a_database_may_not_be_a_link(tmp_path: Path, root: Path) -> None:
    (tmp_path / "chat.artifacts").symlink_to(root)
    with pytest.raises(RefusedArtifactError, match=r"chat\.artifacts is not an artifact"):
        await files_of(str(tmp_path / "chat.db")).load_artifact(**SESSION, filename="doc")
    assert await FileArtifactService(tmp_path / "chat.artifacts").load_artifact(**SESSION, filename="doc") == text(SECRET), (
        "named by the user"
    )
    assert copy_files(str(tmp_path / "chat.db"), str(tmp_path / "copy.db")) == [tmp_path / "chat.artifacts"]


async def test_a_fork_has_empty_versions_in_place_of_links_and_names_them(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    artifacts = FileArtifactService(tmp_path / "files")
    async with DatabaseSessionService(path) as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        for number in range(2):
            await artifacts.save_artifact(**SESSION, filename="doc", artifact=text(str(number)))
            actions = EventActions(artifact_delta={"doc": number})
            await service.append_event(session, Event(author="me", invocation_id="i", actions=actions))
    stored = tmp_path / "files" / SCOPE / "doc/versions/0/doc"
    stored.unlink()
    stored.symlink_to("/etc/passwd")
    fork = await fork_session(path, SessionKey("a", "u", "s"), files=Files(artifacts))
    names = {"app_name": "a", "user_id": "u", "session_id": fork.key.session_id, "filename": "doc"}
    assert await artifacts.load_artifact(**names, version=0) is None
    assert await artifacts.load_artifact(**names, version=1) == text("1")
    assert any("links, special files or extremely large" in note and "doc version 0" in note for note in fork.notes)


async def test_a_name_in_metadata_cannot_be_another_artifacts(root: Path) -> None:
    metadata = root / FILES[1]
    metadata.write_text(metadata.read_text().replace('"doc"', '"../../../../../etc/passwd"'))
    assert await FileArtifactService(root).list_artifact_keys(**SESSION) == ["doc"]


async def test_a_folder_that_is_replaced_by_a_link_while_it_is_opened_is_not_followed(root: Path, tmp_path: Path, way: str) -> None:
    if way == "paths":
        pytest.skip("without descriptors, a replacement between two system calls cannot be noticed")
    place, kept, decoy = root / SCOPE / "doc", tmp_path / "kept", tmp_path / "decoy"
    shutil.copytree(place, decoy)
    (decoy / "versions/0/doc").write_text("another user's file")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            place.rename(kept)
            place.symlink_to(decoy)
            place.unlink()
            kept.rename(place)

    swapper = threading.Thread(target=swap)
    swapper.start()
    service, seen = FileArtifactService(root), set[str]()
    try:
        for _ in range(500):
            try:
                part = await service.load_artifact(**SESSION, filename="doc")
                seen.add(str(part and part.text))
            except (RefusedArtifactError, StorageError):
                seen.add("refused")
    finally:
        stop.set()
        swapper.join()
    assert seen <= {SECRET, "refused", "None"}
    assert await service.load_artifact(**SESSION, filename="doc") == text(SECRET)


def test_a_very_deep_folder_is_not_copied_without_end(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with OpenFolder.open(tmp_path) as opened, opened.folder(*["source", *["d"] * 300], create=True) as deep:
        deep.write_file("file", b"x")
    with OpenFolder.open(tmp_path / "source") as source, OpenFolder.open(tmp_path / "copy") as copy:
        (skipped,) = source.copy_into(copy, 10)
    assert len(skipped.relative_to(tmp_path / "source").parts) == 201
