"""Names that no file can have or reach, in words for users."""

from __future__ import annotations

import errno
import os.path
from itertools import chain, count
from pathlib import Path

_REASONS = {
    errno.ELOOP: "is a symbolic link that leads back to itself",
    errno.ENAMETOOLONG: "is too long for a file name",
    errno.EACCES: "cannot be reached: this program may not look into its folder",
}


def free_name(stem: str = "new") -> str:
    """Return a name for a new database in the current folder, where a proposed command can write it: `new.db`, or else `new-2.db`."""
    names = chain((f"{stem}.db",), (f"{stem}-{number}.db" for number in count(2)))
    return next(name for name in names if not os.path.lexists(name))


def unusable_name(file: Path) -> str | None:
    """Return why a name leads to no file and could not be given to a new one, as the rest of a sentence that begins with the name.

    Args:
        file: a path, existing or not.

    Returns:
        None if the path exists, or if a file could be created there once its folder exists.
    """
    try:
        file.stat()
    except FileNotFoundError:
        return "is a symbolic link to a file that does not exist" if file.is_symlink() else None
    except NotADirectoryError:
        return f"does not exist: {_first_file_above(file)} is a file, not a folder"
    except ValueError:
        return "is not a file name: it contains a NUL character"
    except OSError as error:
        return _REASONS.get(error.errno or 0, f"cannot be reached: {error.strerror or error}")
    return None


def _first_file_above(file: Path) -> Path:
    return next((folder for folder in reversed(file.parents) if folder.exists() and not folder.is_dir()), file.parent)
