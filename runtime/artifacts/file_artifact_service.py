"""Artifacts as files, in google-adk's folder layout.

    root/apps/APP/users/USER/sessions/SESSION/artifacts/NAME/versions/0/NAME
                                                                       /metadata.json
    root/apps/APP/users/USER/artifacts/NAME/versions/…                            the user's files

A version appears by renaming a finished folder, so that a reader sees all of it or nothing and no two writers get the same number.
google-adk reserves numbers by the same `.N.pending` folders; a killed save leaves one behind, and its number stays unused.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from google.genai import types
from pydantic import ValidationError

from runtime.artifacts.artifact_names import METADATA, USER_PREFIX, VERSIONS, check_id, check_new_name, is_users, relative_path
from runtime.artifacts.base_artifact_service import ERASED, ArtifactVersion, BaseArtifactService, as_part
from runtime.errors.input_validation_error import InputValidationError
from runtime.errors.storage_error import StorageError
from runtime.sessions.state import storable
from runtime.support.durable_files import make_folders, sync_folder, write_file
from runtime.support.ids import new_uuid
from runtime.support.worker_threads import run_in_thread

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
        root_dir: the folder; made if it does not exist.
        make_now: make the folder now instead of with the first file.

    Raises:
        StorageError: the folder cannot be made.
    """

    def __init__(self, root_dir: Path | str, *, make_now: bool = True) -> None:
        self.root_dir = Path(root_dir).expanduser().resolve()
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
        folder = self._folder(app_name, user_id, session_id, filename)
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
        return await self._do(folder, lambda: _save(folder, data, about))

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """See `BaseArtifactService.load_artifact`."""
        folder = self._folder(app_name, user_id, session_id, filename)
        return await self._do(folder, lambda: _load(folder, version))

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """See `BaseArtifactService.list_artifact_keys`. User files saved without the `user:` prefix are listed with it."""
        users = self._scope(app_name, user_id, None)
        scopes = [users] if session_id is None else [users, self._scope(app_name, user_id, session_id)]
        names = {
            name if scope is not users or session_id is None or name.startswith(USER_PREFIX) else USER_PREFIX + name
            for scope in scopes
            for name in await self._do(scope, lambda scope=scope: list(_names(scope)))  # type: ignore[misc]
        }
        return sorted(names)

    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """See `BaseArtifactService.delete_artifact`."""
        folder = self._folder(app_name, user_id, session_id, filename)
        scope = self._scope(app_name, user_id, None if is_users(filename, session_id) else session_id)
        await self._do(folder, lambda: _delete(folder, scope))

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """See `BaseArtifactService.list_artifact_versions`."""
        folder = self._folder(app_name, user_id, session_id, filename)
        return await self._do(folder, lambda: [_about(folder, version) for version in _versions(folder)])

    async def _do(self, place: Path, work: Callable[[], T]) -> T:
        with _clear_errors(place):
            return await run_in_thread(work)

    def _scope(self, app_name: str, user_id: str, session_id: str | None) -> Path:
        folder = self.root_dir / "apps" / check_id(app_name, "The app name") / "users" / check_id(user_id, "The user id")
        if session_id is not None:
            folder = folder / "sessions" / check_id(session_id, "The session id")
        return folder / "artifacts"

    def _folder(self, app_name: str, user_id: str, session_id: str | None, filename: str) -> Path:
        """Return the folder of a file's versions.

        Raises:
            InputValidationError: a name or id, or a symbolic link, leads out of the root folder.
        """
        scope = self._scope(app_name, user_id, None if is_users(filename, session_id) else session_id)
        folder = scope / relative_path(filename)
        if not folder.resolve().is_relative_to(self.root_dir):
            raise InputValidationError(f"The artifact {filename!r} is behind a link that leads out of {self.root_dir}.")
        return folder


def _payload(part: types.Part) -> tuple[bytes, str | None, str | None]:
    """Return bytes, MIME type (None for text) and display name."""
    if part.inline_data is not None and part.inline_data.data is not None:
        return part.inline_data.data, part.inline_data.mime_type or "application/octet-stream", part.inline_data.display_name
    if part.text is not None:
        return part.text.encode(), None, None
    raise InputValidationError("An artifact must be a part with text or bytes; this one has neither.")


def _save(folder: Path, data: bytes, about: FileArtifactVersion) -> int:
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(FileNotFoundError):  # another writer deleted a folder
            return _save_once(folder, data, about)
    raise StorageError(f"{about.file_name!r} could not be saved: another process keeps deleting {folder}.")


def _save_once(folder: Path, data: bytes, about: FileArtifactVersion) -> int:
    versions = folder / VERSIONS
    make_folders(versions)
    number = max(_versions(folder), default=-1) + 1
    while True:
        pending, final = versions / f".{number}.pending", versions / str(number)
        try:
            pending.mkdir()
        except FileExistsError:
            number += 1
            continue
        try:
            if not final.exists():
                about.version, about.canonical_uri = number, (final / folder.name).as_uri()
                write_file(pending / folder.name, data)
                write_file(pending / METADATA, about.model_dump_json(by_alias=True, exclude_none=True).encode())
                sync_folder(pending)
                pending.rename(final)
                sync_folder(versions)
                return number
            pending.rmdir()
        except BaseException:
            shutil.rmtree(pending, ignore_errors=True)
            raise
        number += 1


def _load(folder: Path, version: int | None) -> types.Part | None:
    if version is None:
        version = max(_versions(folder), default=-1)
    if version < 0:
        return None
    about = _metadata(folder, version)
    try:
        # Never from a path in `metadata.json`, which is untrusted.
        data = (folder / VERSIONS / str(version) / folder.name).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if about is None or not about.mime_type:
        return types.Part(text=data.decode(errors="replace"))
    part = types.Part(inline_data=types.Blob(data=data, mime_type=about.mime_type, display_name=about.display_name))
    return None if part == ERASED else part


def _versions(folder: Path) -> list[int]:
    try:
        names = [found.name for found in (folder / VERSIONS).iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(int(name) for name in names if name.isdecimal() and name.isascii())


def _about(folder: Path, version: int) -> ArtifactVersion:
    known = _metadata(folder, version)
    # The folder may have been moved since the file was saved.
    uri = (folder / VERSIONS / str(version) / folder.name).as_uri()
    if known is None:
        return ArtifactVersion(version=version, canonical_uri=uri)
    fields = {name: getattr(known, name) for name in ("custom_metadata", "create_time", "mime_type")}
    return ArtifactVersion(version=version, canonical_uri=uri, **fields)


def _metadata(folder: Path, version: int) -> FileArtifactVersion | None:
    try:
        return FileArtifactVersion.model_validate_json((folder / VERSIONS / str(version) / METADATA).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def _names(scope: Path) -> Iterator[str]:
    """Yield the artifact names below a scope's folder, as they were saved."""
    for place, below, _ in os.walk(scope):
        if VERSIONS in below:
            below.remove(VERSIONS)
            folder = Path(place)
            versions = _versions(folder)
            if versions:
                about = _metadata(folder, versions[-1])
                yield about.file_name if about else folder.relative_to(scope).as_posix()


def _delete(folder: Path, scope: Path) -> None:
    """Rename the versions away at once, then delete them and all folders left empty."""
    trash = folder / f".deleted-{new_uuid()}"
    try:
        (folder / VERSIONS).rename(trash)
    except (FileNotFoundError, NotADirectoryError):
        return
    shutil.rmtree(trash, ignore_errors=True)
    while folder != scope:
        try:
            folder.rmdir()
        except OSError:
            return  # it contains other artifacts
        folder = folder.parent


@contextlib.contextmanager
def _clear_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"Artifacts cannot be read or written at {place}: {error.strerror or error}.") from error
