"""Artifacts as files, in google-adk's folder layout.

    root/apps/APP/users/USER/sessions/SESSION/artifacts/NAME/versions/0/NAME
                                                                       /metadata.json
    root/apps/APP/users/USER/artifacts/NAME/versions/…                            the user's files

A version appears by renaming a finished folder, so that a reader sees all of it or nothing and no two writers get the same number.
google-adk reserves numbers by the same `.N.pending` folders; a killed save leaves one behind, and its number stays unused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from google.genai import types
from pydantic import ValidationError

from runtime.artifacts.artifact_names import METADATA, USER_PREFIX, VERSIONS, check_id, check_new_name, is_users, relative_path
from runtime.artifacts.base_artifact_service import ERASED, ArtifactVersion, BaseArtifactService, as_part
from runtime.errors.input_validation_error import InputValidationError, RefusedArtifactError
from runtime.errors.storage_error import StorageError
from runtime.sessions.state import storable
from runtime.support.durable_files import make_folders
from runtime.support.ids import new_uuid
from runtime.support.linkless import LinkError, OpenFolder, TooLargeError
from runtime.support.worker_threads import run_in_thread

LARGEST_ARTIFACT = 512 * 1024 * 1024  # bytes; a larger file is not read, as a planted sparse file would fill the memory
_LARGEST_METADATA = 16 * 1024 * 1024  # bytes
_DEEPEST = 200  # folders in an artifact's name
_ATTEMPTS = 20  # how often a save starts again because the file was deleted in the meantime

T = TypeVar("T")


class FileArtifactVersion(ArtifactVersion):
    """The content of a version's `metadata.json`.

    Attributes:
        file_name: the artifact's name.
        display_name: the blob's display name.
    """

    file_name: str
    display_name: str | None = None


class FileArtifactService(BaseArtifactService):
    """Stores artifacts as files. Several threads and processes, google-adk's included, may use one folder at once.

    Args:
        root_dir: the folder; made if it does not exist. No link below it is followed.
        make_now: make the folder now instead of with the first file.
        follows_link: whether `root_dir` may be a link itself.

    Raises:
        StorageError: the folder cannot be made.
    """

    def __init__(self, root_dir: Path | str, *, make_now: bool = True, follows_link: bool = True) -> None:
        folder = Path(root_dir).expanduser()
        self.root_dir = folder.resolve() if follows_link else folder.parent.resolve() / folder.name
        if make_now:
            with _clear_errors(self.root_dir):
                make_folders(self.root_dir)

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """See `BaseArtifactService.save_artifact`.

        Raises:
            InputValidationError: a name or id leads out of the folder or is reserved, or the part has neither text nor bytes.
            StorageError: the file system reported an error; nothing was saved.
        """
        parts = self._parts(app_name, user_id, session_id, filename)
        check_new_name(filename, relative_path(filename))
        data, mime_type, display_name = _payload(as_part(artifact))
        about = FileArtifactVersion(
            version=0,
            canonical_uri="",
            custom_metadata=storable(custom_metadata or {}, "custom_metadata"),
            mime_type=mime_type,
            file_name=filename,
            display_name=display_name,
        )
        return await self._do(lambda: _save(self.root_dir, parts, data, about))

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """See `BaseArtifactService.load_artifact`."""
        parts = self._parts(app_name, user_id, session_id, filename)
        return await self._read(parts, lambda folder: _load(folder, version), None)

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """See `BaseArtifactService.list_artifact_keys`. User files saved without the `user:` prefix are listed with it."""
        users = self._scope(app_name, user_id, None)
        scopes = [users] if session_id is None else [users, self._scope(app_name, user_id, session_id)]
        names = {
            name if scope is not users or session_id is None or name.startswith(USER_PREFIX) else USER_PREFIX + name
            for scope in scopes
            for name in await self._read(scope, lambda folder: list(_names(folder, folder.path)), list[str]())
        }
        return sorted(names)

    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """See `BaseArtifactService.delete_artifact`."""
        path = relative_path(filename).parts
        scope = self._parts(app_name, user_id, session_id, filename)[: -len(path)]
        await self._read(scope, lambda folder: _delete(folder, path), None)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """See `BaseArtifactService.list_artifact_versions`."""
        parts = self._parts(app_name, user_id, session_id, filename)
        return await self._read(parts, lambda folder: [_about(folder, version) for version in _versions(folder)], [])

    async def _read(self, parts: Sequence[str], work: Callable[[OpenFolder], T], missing: T) -> T:
        """Run a function on a folder below the root; return `missing` if the folder does not exist."""

        def run() -> T:
            try:
                with OpenFolder.open(self.root_dir) as root, root.folder(*parts) as folder:
                    return work(folder)
            except (FileNotFoundError, NotADirectoryError):
                return missing

        return await self._do(run)

    async def _do(self, work: Callable[[], T]) -> T:
        with _clear_errors(self.root_dir):
            return await run_in_thread(work)

    def _scope(self, app_name: str, user_id: str, session_id: str | None) -> tuple[str, ...]:
        """Return the names on the way from the root to the folder of a session's or user's artifacts."""
        names = "apps", check_id(app_name, "The app name"), "users", check_id(user_id, "The user id")
        session = () if session_id is None else ("sessions", check_id(session_id, "The session id"))
        return (*names, *session, "artifacts")

    def _parts(self, app_name: str, user_id: str, session_id: str | None, filename: str) -> tuple[str, ...]:
        """Return the names on the way to the folder of a file's versions.

        Raises:
            InputValidationError: a name or id leads out of the root folder.
        """
        scope = self._scope(app_name, user_id, None if is_users(filename, session_id) else session_id)
        return (*scope, *relative_path(filename).parts)


def _payload(part: types.Part) -> tuple[bytes, str | None, str | None]:
    """Return bytes, MIME type (None for text) and display name."""
    if part.inline_data is not None and part.inline_data.data is not None:
        return part.inline_data.data, part.inline_data.mime_type or "application/octet-stream", part.inline_data.display_name
    if part.text is not None:
        return part.text.encode(), None, None
    raise InputValidationError("An artifact must be a part with text or bytes; this one has neither.")


def _save(root: Path, parts: Sequence[str], data: bytes, about: FileArtifactVersion) -> int:
    for _ in range(_ATTEMPTS):
        make_folders(root)
        try:
            with OpenFolder.open(root) as opened, opened.folder(*parts, VERSIONS, create=True) as versions:
                return _save_once(versions, parts[-1], data, about)
        except FileNotFoundError:
            continue  # another writer deleted a folder
    raise StorageError(f"{about.file_name!r} could not be saved: another process keeps deleting {root.joinpath(*parts)}.")


def _save_once(versions: OpenFolder, name: str, data: bytes, about: FileArtifactVersion) -> int:
    number = max(_numbers(versions), default=-1) + 1
    while True:
        pending, final = f".{number}.pending", str(number)
        try:
            versions.make_folder(pending)
        except FileExistsError:
            number += 1
            continue
        try:
            if final not in versions.names():
                about.version, about.canonical_uri = number, (versions.path / final / name).as_uri()
                with versions.folder(pending) as folder:
                    folder.write_file(name, data)
                    folder.write_file(METADATA, about.model_dump_json(by_alias=True, exclude_none=True).encode())
                    folder.sync()
                versions.rename(pending, final)
                versions.sync()
                return number
            versions.remove_folder(pending)
        except BaseException:
            versions.remove_tree(pending)
            raise
        number += 1


def _load(folder: OpenFolder, version: int | None) -> types.Part | None:
    if version is None:
        version = max(_versions(folder), default=-1)
    if version < 0:
        return None
    about = _metadata(folder, version)
    try:
        with folder.folder(VERSIONS, str(version)) as saved:
            # Never from a path in `metadata.json`, which is untrusted.
            data = saved.read(folder.path.name, LARGEST_ARTIFACT)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if about is None or not about.mime_type:
        return types.Part(text=data.decode(errors="replace"))
    part = types.Part(inline_data=types.Blob(data=data, mime_type=about.mime_type, display_name=about.display_name))
    return None if part == ERASED else part


def _versions(folder: OpenFolder) -> list[int]:
    try:
        with folder.folder(VERSIONS) as versions:
            return _numbers(versions)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _numbers(versions: OpenFolder) -> list[int]:
    return sorted(int(name) for name in versions.names() if name.isdecimal() and name.isascii())


def _about(folder: OpenFolder, version: int) -> ArtifactVersion:
    known = _metadata(folder, version)
    # The folder may have been moved since the file was saved.
    uri = (folder.path / VERSIONS / str(version) / folder.path.name).as_uri()
    if known is None:
        return ArtifactVersion(version=version, canonical_uri=uri)
    fields = {name: getattr(known, name) for name in ("custom_metadata", "create_time", "mime_type")}
    return ArtifactVersion(version=version, canonical_uri=uri, **fields)


def _metadata(folder: OpenFolder, version: int) -> FileArtifactVersion | None:
    try:
        with folder.folder(VERSIONS, str(version)) as saved:
            return FileArtifactVersion.model_validate_json(saved.read(METADATA, _LARGEST_METADATA))
    except (FileNotFoundError, NotADirectoryError, TooLargeError, ValidationError):
        return None


def _names(folder: OpenFolder, scope: Path, deepest: int = _DEEPEST) -> Iterator[str]:
    """Yield the artifact names below a scope's folder, as they were saved. Links are skipped."""
    for name in folder.names():
        with contextlib.suppress(LinkError, FileNotFoundError, NotADirectoryError):
            if name != VERSIONS and folder.is_folder(name):
                if deepest:
                    with folder.folder(name) as below:
                        yield from _names(below, scope, deepest - 1)
            elif name == VERSIONS and (versions := _versions(folder)):
                yield _saved_name(_metadata(folder, versions[-1]), folder.path.relative_to(scope).as_posix())


def _saved_name(about: FileArtifactVersion | None, path: str) -> str:
    """Return the name in an artifact's metadata, or its path if that is the name of another artifact."""
    with contextlib.suppress(InputValidationError):
        if about is not None and relative_path(about.file_name).as_posix() == path:
            return about.file_name
    return path


def _delete(scope: OpenFolder, parts: Sequence[str]) -> None:
    """Rename the versions away at once, then delete them and all folders left empty."""
    with scope.folder(*parts) as folder:
        trash = f".deleted-{new_uuid()}"
        folder.rename(VERSIONS, trash)
        folder.remove_tree(trash)
    for count in range(len(parts) - 1, -1, -1):
        with scope.folder(*parts[:count]) as parent:
            try:
                parent.remove_folder(parts[count])
            except OSError:
                return  # it contains other artifacts


@contextlib.contextmanager
def _clear_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except (LinkError, TooLargeError) as error:
        raise RefusedArtifactError(f"{error.filename} is not an artifact: {error.strerror}.") from error
    except OSError as error:
        raise StorageError(f"Artifacts cannot be read or written at {place}: {error.strerror or error}.") from error
