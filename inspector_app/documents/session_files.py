"""Where the files (artifacts) of a database's sessions are kept. No Qt.

They stand beside the database: `NAME.artifacts` for `NAME.db`, and `artifacts` in the `.adk` folder that adk web and the API server keep a
`session.db` in. A session in memory has its files in memory, and so has one on a server, whose files nobody says the place of.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.artifacts.file_artifact_service import FileArtifactService
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_url import named_file

_ADK_FOLDER, _ADK_FILES = ".adk", "artifacts"


def files_folder(database: str) -> Path | None:
    """Return the folder that the files of a database's sessions are kept in; it need not exist.

    Args:
        database: path or URL.

    Returns:
        None for a database that is no file.
    """
    try:
        file = named_file(database)
    except KnownError:  # said where it is opened
        return None
    if file is None:
        return None
    file = file.absolute()
    return file.parent / _ADK_FILES if file.parent.name == _ADK_FOLDER else file.with_suffix(".artifacts")


def files_of(database: str | None) -> BaseArtifactService:
    """Return the service that keeps the files of a database's sessions; its folder is made with the first file.

    Args:
        database: path or URL; None for sessions in memory.
    """
    folder = files_folder(database) if database is not None else None
    return InMemoryArtifactService() if folder is None else FileArtifactService(folder, make_now=False)


def copy_files(database: str, copy: str) -> None:
    """Copy the files of a database's sessions for a copy of the database.

    Raises:
        StorageError: they cannot be copied.
    """
    folder, target = files_folder(database), files_folder(copy)
    if folder is not None and target is not None and folder.is_dir():
        try:
            shutil.copytree(folder, target, dirs_exist_ok=True)
        except OSError as error:  # of several files, too
            raise StorageError(f"The files in {folder} could not be copied to {target}: {error}") from error
