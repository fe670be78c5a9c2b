"""A session's files for its fork: every version up to the one that was there, so that the versions events name stay true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.artifacts.artifact_names import USER_PREFIX
from runtime.artifacts.base_artifact_service import ERASED, BaseArtifactService
from runtime.events.event import Event
from runtime.running.rewind import versions_after
from runtime.sessions.session import SessionKey


@dataclass(slots=True)
class FilesCopied:
    """What became of a session's files.

    Attributes:
        names: files that the fork has.
        missing: versions that the service does not have, or that a rewind erased; the fork has empty ones in their place.
    """

    names: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def notes(self, events: Sequence[Event], *, asked: bool) -> list[str]:
        """Return what a person should know.

        Args:
            events: whose files were to be copied.
            asked: it was said where the files are.
        """
        named = sorted(name for name in versions_after(events) if not name.startswith(USER_PREFIX))
        if named and not asked:
            return [f"The session's files were not copied, as it was not said where they are: {', '.join(named)}."]
        return (
            [f"These versions of files are not there any more, and empty in the fork: {', '.join(self.missing)}."] if self.missing else []
        )


async def copy_files(
    source: BaseArtifactService, target: BaseArtifactService, key: SessionKey, fork: SessionKey, events: Sequence[Event]
) -> FilesCopied:
    """Copy a session's files as they were after some events; the user's own files are shared and stay where they are.

    Args:
        source: keeps them.
        target: keeps the fork's; may be the same.
        key: the session.
        fork: the new session.
        events: up to where.

    Raises:
        StorageError, InputValidationError: a file cannot be saved; those that were are removed again.
    """
    copied = FilesCopied()
    try:
        for name, newest in versions_after(events).items():
            if name.startswith(USER_PREFIX):
                continue
            copied.names.append(name)
            for version in range(newest + 1):
                if not await _copy_version(source, target, _names(key, name), _names(fork, name), version):
                    copied.missing.append(f"{name} version {version}")
    except BaseException:
        await remove_files(target, fork, copied)
        raise
    return copied


async def _copy_version(
    source: BaseArtifactService, target: BaseArtifactService, old: dict[str, Any], new: dict[str, Any], version: int
) -> bool:
    part = await source.load_artifact(**old, version=version)
    known = await source.get_artifact_version(**old, version=version)
    metadata = known.custom_metadata if known else None
    await target.save_artifact(**new, artifact=ERASED if part is None else part, custom_metadata=metadata)
    return part is not None


async def remove_files(service: BaseArtifactService, fork: SessionKey, copied: FilesCopied) -> None:
    """Take back what `copy_files` saved, as the fork could not be stored."""
    for name in copied.names:
        await service.delete_artifact(**_names(fork, name))


def _names(key: SessionKey, name: str) -> dict[str, Any]:
    return {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id, "filename": name}
