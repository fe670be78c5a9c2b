"""Valid artifact names, and the scope they belong to."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from runtime.errors.input_validation_error import InputValidationError

USER_PREFIX = "user:"
VERSIONS = "versions"
METADATA = "metadata.json"

_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST = 200  # bytes of one path component: file systems allow 255, and temporary names need some of them


def is_users(filename: str, session_id: str | None) -> bool:
    """Return whether a file belongs to the user rather than to one session."""
    return session_id is None or filename.startswith(USER_PREFIX)


def check_id(value: str, what: str) -> str:
    """Return `value` if it can be the name of a folder.

    Args:
        value: an app name, user id or session id.
        what: its name in the error message.

    Raises:
        InputValidationError: it is empty, too long or contains path separators.
    """
    if not value or value.strip() in ("", ".", ".."):
        raise InputValidationError(f"{what} {value!r} cannot be used for artifacts: it names no folder.")
    if any(sign in value for sign in "/\\\0") or _DRIVE.match(value):
        raise InputValidationError(f"{what} {value!r} cannot be used for artifacts: it must not contain path separators.")
    return _not_too_long(value, what)


def check_segment(value: str, what: str) -> None:
    """Refuse an id that no service with folders can have, so that an app that works in memory works there too.

    Args:
        value: an app name, user id or session id. It may contain `/`, as ids with it work in a bucket.
        what: its name in the error message.

    Raises:
        InputValidationError: it is empty, or leads out of a folder.
    """
    if not value.strip() or "\0" in value:
        raise InputValidationError(f"{what} {value!r} cannot be used for artifacts: it names no folder.")
    parts = value.replace("\\", "/").split("/")
    if not parts[0] or _DRIVE.match(value) or value == "." or ".." in parts:
        raise InputValidationError(f"{what} {value!r} cannot be used for artifacts: it leads out of the folder.")


def relative_path(filename: str) -> PurePosixPath:
    """Return a file's path below the artifact folder; `/` and `\\` in its name separate folders.

    Args:
        filename: the artifact's name; `user:` is not part of the path.

    Raises:
        InputValidationError: the name is empty or leads out of the folder.
    """
    bare = filename.removeprefix(USER_PREFIX).strip()
    path = PurePosixPath(bare.replace("\\", "/"))
    if "\0" in bare or not path.parts:
        raise InputValidationError(f"{filename!r} is not an artifact name.")
    if path.is_absolute() or _DRIVE.match(bare) or ".." in path.parts:
        raise InputValidationError(f"The artifact name {filename!r} leads out of its folder; use a relative name without '..'.")
    for part in path.parts:
        _not_too_long(part, "The artifact name")
    return path


def check_new_name(filename: str, path: PurePosixPath) -> None:
    """Reject names that the folder layout itself uses.

    Raises:
        InputValidationError: the name is reserved.
    """
    # Some file systems ignore case and trailing dots and spaces.
    parts = [part.rstrip(" .").casefold() for part in path.parts]
    if VERSIONS in parts or parts[-1] == METADATA:
        raise InputValidationError(f"An artifact cannot be called {filename!r}: the artifact folder uses that name itself.")


def _not_too_long(value: str, what: str) -> str:
    try:
        length = len(value.encode())
    except UnicodeEncodeError:
        raise InputValidationError(f"{what} {value!r} cannot be used for artifacts: it is not valid Unicode text.") from None
    if length > _LONGEST:
        raise InputValidationError(f"{what} {value[:40] + '…'!r} is too long for artifacts: at most {_LONGEST} bytes.")
    return value
