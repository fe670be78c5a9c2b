"""Session and artifact services by URI, as google-adk's options name them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from runtime import artifacts
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.artifacts.file_artifact_service import FileArtifactService
from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from runtime.errors import KnownError
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.storage.open_service import open_session_service

_MEMORY = "memory://"


class ServiceUriError(KnownError):
    """A URI names no service; the message says which ones there are."""


def session_service(uri: str) -> BaseSessionService:
    """Return the session service of a URI.

    Args:
        uri: `memory://`, `agentengine://` with an engine's name, or the path or URL of a database.

    Raises:
        StorageError: the database cannot be used.
    """
    if uri in (_MEMORY, "sqlite://"):
        return InMemorySessionService()
    return open_session_service(uri)


def artifact_service(uri: str) -> BaseArtifactService:
    """Return the artifact service of a URI.

    Args:
        uri: `memory://`, `file:///folder` or `gs://bucket`.

    Raises:
        ServiceUriError: it is none of these.
        MissingPackageError: the extra for buckets is not installed.
        StorageError: the folder cannot be made.
    """
    parts = urlsplit(uri)
    if uri == _MEMORY:
        return InMemoryArtifactService()
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost") or not parts.path:
            raise ServiceUriError(f"--artifact_service_uri {uri} must name a folder of this machine, like file:///home/me/artifacts.")
        return FileArtifactService(Path(unquote(parts.path)))
    if parts.scheme == "gs" and parts.netloc:
        # Loaded by its name: the package of the extra is needed for nothing else.
        return artifacts.GcsArtifactService(parts.netloc)
    raise ServiceUriError(f"--artifact_service_uri {uri} names no artifact service. Use memory://, file:///folder or gs://bucket.")
