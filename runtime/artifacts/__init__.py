"""Versioned files saved by agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
    from runtime.artifacts.file_artifact_service import FileArtifactService
    from runtime.artifacts.gcs_artifact_service import GcsArtifactService
    from runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.artifacts.base_artifact_service": "ArtifactVersion BaseArtifactService",
        "runtime.artifacts.file_artifact_service": "FileArtifactService",
        "runtime.artifacts.gcs_artifact_service": "GcsArtifactService",
        "runtime.artifacts.in_memory_artifact_service": "InMemoryArtifactService",
    },
)
