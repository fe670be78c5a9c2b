"""Copying a session's files into its fork: every version up to the last one, so that the versions that events name stay valid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.errors.input_validation_error import RefusedArtifactError
from runtime.sessions.session_key import SessionKey
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.artifacts import base_artifact_service
    from runtime.artifacts.base_artifact_service import BaseArtifactService
    from runtime.events.event import Event
    from runtime.running import rewind
else:
    base_artifact_service = lazy_module("runtime.artifacts.base_artifact_service")
    rewind = lazy_module("runtime.running.rewind")


@dataclass(slots=True)
class FilesCopied:
    """The result of copying a session's files.

    Attributes:
        names: the fork's files.
        missing: versions that the service does not have, or that a rewind erased; the fork has empty versions instead.
        refused: versions that are links, special files or extremely large; the fork has empty versions instead.
    """

    names: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def notes(self, events: Sequence[Event], *, asked: bool) -> list[str]:
        """Return sentences for the person who forks.

        Args:
            events: the events whose files were to be copied.
            asked: whether the location of the files was given.
        """
        named = sorted(name for name in rewind.versions_after(events) if not name.startswith(USER_PREFIX))
        if named and not asked:
            return [f"The session's files were not copied because their location was not given: {', '.join(named)}."]
        notes = []
        if self.missing:
            notes.append(f"These file versions no longer exist and are empty in the fork: {', '.join(self.missing)}.")
        if self.refused:
            notes.append(
                "These file versions are links, special files or extremely large. They were not read and are empty in the fork:"
                f" {', '.join(self.refused)}."
            )
        return notes


async def copy_files(
    source: BaseArtifactService, target: BaseArtifactService, key: SessionKey, fork: SessionKey, events: Sequence[Event]
) -> FilesCopied:
    """Copy a session's files as they were after some events. The user's own files are shared and are not copied.

    Args:
        source: stores the session's files.
        target: stores the fork's files; may be the same service.
        key: the session.
        fork: the new session.
        events: the events up to the fork.

    Raises:
        StorageError, InputValidationError: a file cannot be saved; the files already saved are removed.
    """
    copied = FilesCopied()
    try:
        for name, newest in rewind.versions_after(events).items():
            if name.startswith(USER_PREFIX):
                continue
            copied.names.append(name)
            for version in range(newest + 1):
                if (lacking := await _copy_version(source, target, _names(key, name), _names(fork, name), version)) is not None:
                    getattr(copied, lacking).append(f"{name} version {version}")
    except BaseException:
        await remove_files(target, fork, copied)
        raise
    return copied


async def _copy_version(
    source: BaseArtifactService, target: BaseArtifactService, old: dict[str, Any], new: dict[str, Any], version: int
) -> Literal["missing", "refused"] | None:
    """Copy one version, or save an empty one and return why there is nothing to copy."""
    try:
        part = await source.load_artifact(**old, version=version)
        known = await source.get_artifact_version(**old, version=version)
    except RefusedArtifactError:
        await target.save_artifact(**new, artifact=base_artifact_service.ERASED)
        return "refused"
    metadata = known.custom_metadata if known else None
    await target.save_artifact(**new, artifact=base_artifact_service.ERASED if part is None else part, custom_metadata=metadata)
    return "missing" if part is None else None


async def remove_files(service: BaseArtifactService, fork: SessionKey, copied: FilesCopied) -> None:
    """Remove what `copy_files` saved, after the fork could not be stored."""
    for name in copied.names:
        await service.delete_artifact(**_names(fork, name))


def _names(key: SessionKey, name: str) -> dict[str, Any]:
    return {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id, "filename": name}
