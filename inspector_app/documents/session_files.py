"""The folders of the files (artifacts) of a database's sessions. No Qt.

The folder is beside the database: `NAME.artifacts` for `NAME.db`, and `artifacts` in the `.adk` folder in which adk web and the API server
keep a `session.db`. Files of sessions in memory or on a server are kept in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_url import named_file
from runtime.support.lazy import lazy_module
from runtime.support.linkless import LinkError, OpenFolder

if TYPE_CHECKING:
    from runtime.artifacts import file_artifact_service, in_memory_artifact_service
    from runtime.artifacts.base_artifact_service import BaseArtifactService
else:
    file_artifact_service = lazy_module("runtime.artifacts.file_artifact_service")
    in_memory_artifact_service = lazy_module("runtime.artifacts.in_memory_artifact_service")

_ADK_FOLDER, _ADK_FILES = ".adk", "artifacts"


def files_folder(database: str) -> Path | None:
    """Return the folder of the files of a database's sessions; it need not exist.

    Args:
        database: path or URL.

    Returns:
        None for a database that is not a file.
    """
    try:
        file = named_file(database)
    except KnownError:  # reported when the database is opened
        return None
    if file is None:
        return None
    file = file.absolute()
    return file.parent / _ADK_FILES if file.parent.name == _ADK_FOLDER else file.with_suffix(".artifacts")


def files_of(database: str | None) -> BaseArtifactService:
    """Return the service that keeps the files of a database's sessions; its folder is created with the first file.

    Args:
        database: path or URL; None for sessions in memory.
    """
    folder = files_folder(database) if database is not None else None
    return (
        in_memory_artifact_service.InMemoryArtifactService()
        if folder is None
        else file_artifact_service.FileArtifactService(folder, make_now=False, follows_link=False)
    )


def copy_files(database: str, copy: str) -> list[Path]:
    """Copy the files of a database's sessions for a copy of the database.

    Returns:
        Links, special files and extremely large files, which are not copied.

    Raises:
        StorageError: the files cannot be copied.
    """
    folder, target = files_folder(database), files_folder(copy)
    if folder is None or target is None or not folder.is_dir():
        return []
    try:
        with (
            OpenFolder.open(folder) as source,
            OpenFolder.open(target.parent.resolve()) as parent,
            parent.folder(target.name, create=True) as copied,
        ):
            return source.copy_into(copied, file_artifact_service.LARGEST_ARTIFACT)
    except LinkError:
        return [folder]
    except OSError as error:
        raise StorageError(f"The files in {folder} could not be copied to {target}: {error.strerror or error}.") from error
