"""Folders and files opened without following links, for places that another program may have prepared.

Each folder is opened relative to its open parent, so that a folder that is replaced by a link meanwhile is noticed. Windows cannot do
that: there, each component is checked before it is used.
"""

# pathlib has no functions that work relative to an open folder.
# ruff: noqa: PTH102, PTH104, PTH116, PTH208
from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

_HAS_DESCRIPTORS = (
    {os.open, os.mkdir, os.rename, os.stat, os.rmdir, os.unlink} <= os.supports_dir_fd
    and os.listdir in os.supports_fd
    and hasattr(os, "O_NOFOLLOW")
)
_COMMON = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _COMMON  # opening a FIFO must not wait for a writer
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON
_WINDOWS_LINKS = (0xA000000C, 0xA0000003)  # reparse tags of symbolic links and of junctions
_PIECE = 1024 * 1024  # bytes copied at once
_DEEPEST = 200  # folders below the one that is copied


class LinkError(OSError):
    """A link, a device or another special file, where a regular file or a folder is expected.

    Attributes:
        what: what it is, as the end of a sentence.
    """

    def __init__(self, place: str | Path, kind: str) -> None:
        self.what = f"it is {kind}"
        super().__init__(errno.ELOOP, f"{self.what}, which is not opened here", str(place))


class TooLargeError(OSError):
    """A file larger than the limit."""

    def __init__(self, place: str | Path, most: int) -> None:
        super().__init__(errno.EFBIG, f"it is larger than {most:,} bytes", str(place))


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Only the path's last component may not be a link.

    Raises:
        LinkError: the path leads to a link or a special file.
        OSError: the file cannot be opened.
    """
    return os.fdopen(_open_regular(str(path), path, None), "rb")


def open_named(path: Path) -> BinaryIO:
    """Open a regular file that a person named, for reading. Links to it are followed; FIFOs and devices are not opened.

    Raises:
        LinkError: the path leads to a folder or a special file.
        OSError: the file cannot be opened.
    """
    return os.fdopen(_open_regular(str(path), path, None, follow=True), "rb")


def is_regular(path: Path) -> bool:
    """Return whether a path leads to a regular file, without following a link; False if there is nothing.

    Raises:
        LinkError: it leads to a link or a special file.
    """
    try:
        _check_regular(os.lstat(path), path)
    except FileNotFoundError:
        return False
    return True


def create_file(path: Path, mode: int = 0o600) -> BinaryIO:
    """Create a file for writing, exclusively and without following a link.

    Raises:
        FileExistsError: the name is taken, be it by a link that leads nowhere.
    """
    return os.fdopen(os.open(path, _CREATE, mode), "wb")


class OpenFolder:
    """An open folder, below which no link is followed.

    Attributes:
        path: where it was opened.
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[OpenFolder]:
        """Yield a folder; the path's last component may not be a link.

        Raises:
            LinkError: it is a link or a special file.
            OSError: it cannot be opened.
        """
        folder = cls(path, _open_folder(str(path), path, None))
        try:
            yield folder
        finally:
            folder._close()

    @contextmanager
    def folder(self, *names: str, create: bool = False) -> Iterator[OpenFolder]:
        """Yield a folder below this one.

        Raises:
            LinkError: one of them is a link or a special file.
            OSError: one of them cannot be opened.
        """
        folder = self
        try:
            for name in names:
                below = folder._below(name, create=create)
                if folder is not self:
                    folder._close()
                folder = below
            yield folder
        finally:
            if folder is not self:
                folder._close()

    def names(self) -> list[str]:
        """Return the names of all entries."""
        return os.listdir(self.path if self._descriptor is None else self._descriptor)

    def is_folder(self, name: str) -> bool:
        """Return whether an entry is a folder and no link."""
        return stat.S_ISDIR(self._status(name).st_mode)

    def read(self, name: str, most: int) -> bytes:
        """Return a regular file's content.

        Args:
            name: the file.
            most: the largest size in bytes.

        Raises:
            LinkError: it is a link or a special file.
            TooLargeError: it is larger.
        """
        with self.open_file(name, most) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise TooLargeError(self.path / name, most)
        return data

    def open_file(self, name: str, most: int) -> BinaryIO:
        """Open a regular file for reading; arguments and errors as for `read`."""
        target, options = self._at(name)
        file = os.fdopen(_open_regular(target, self.path / name, options.get("dir_fd")), "rb")
        if os.fstat(file.fileno()).st_size > most:
            file.close()
            raise TooLargeError(self.path / name, most)
        return file

    def create_file(self, name: str) -> BinaryIO:
        """Create a file for writing.

        Raises:
            FileExistsError: the name is taken.
        """
        target, options = self._at(name)
        return os.fdopen(os.open(target, _CREATE, 0o666, **options), "wb")

    def write_file(self, name: str, data: bytes) -> None:
        """Write a new file and sync it to disk."""
        with self.create_file(name) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def make_folder(self, name: str) -> None:
        """Make a folder.

        Raises:
            FileExistsError: the name is taken.
        """
        target, options = self._at(name)
        os.mkdir(target, **options)

    def rename(self, old: str, new: str) -> None:
        """Rename an entry; a link is renamed itself."""
        old_target, options = self._at(old)
        new_target, _ = self._at(new)
        os.rename(old_target, new_target, **{f"{end}_{name}": value for name, value in options.items() for end in ("src", "dst")})

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        target, options = self._at(name)
        os.rmdir(target, **options)

    def remove_tree(self, name: str) -> None:
        """Remove an entry with everything below it, as far as possible. A link is removed itself."""
        target, options = self._at(name)
        with suppress(OSError):
            if not self.is_folder(name):
                os.unlink(target, **options)
                return
        shutil.rmtree(target, ignore_errors=True, **options)

    def sync(self) -> None:
        """Sync the folder's entries to disk."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def copy_into(self, target: OpenFolder, most: int, deepest: int = _DEEPEST) -> list[Path]:
        """Copy all regular files below this folder; existing ones are replaced.

        Args:
            target: another folder.
            most: the largest file in bytes.
            deepest: how many folders deep files are copied.

        Returns:
            What was not copied: links, special files, and files that are too large.
        """
        skipped = []
        for name in sorted(self.names()):
            try:
                if not self.is_folder(name):
                    self._copy_file(target, name, most)
                elif deepest == 0:
                    skipped.append(self.path / name)
                else:
                    with self.folder(name) as below, target.folder(name, create=True) as made:
                        skipped += below.copy_into(made, most, deepest - 1)
            except (LinkError, TooLargeError):
                skipped.append(self.path / name)
        return skipped

    def _copy_file(self, target: OpenFolder, name: str, most: int) -> None:
        with self.open_file(name, most) as source:
            left = os.fstat(source.fileno()).st_size
            target.remove_tree(name)
            with target.create_file(name) as copy:
                while left > 0 and (piece := source.read(min(left, _PIECE))):
                    copy.write(piece)
                    left -= len(piece)

    def _below(self, name: str, *, create: bool) -> OpenFolder:
        target, options = self._at(name)
        path = self.path / name
        try:
            return OpenFolder(path, _open_folder(target, path, options.get("dir_fd")))
        except FileNotFoundError:
            if not create:
                raise
        with suppress(FileExistsError):
            os.mkdir(target, **options)
            self.sync()
        return OpenFolder(path, _open_folder(target, path, options.get("dir_fd")))

    def _status(self, name: str) -> os.stat_result:
        target, options = self._at(name)
        return os.stat(target, follow_symlinks=False, **options)

    def _at(self, name: str) -> tuple[str, dict[str, Any]]:
        """Return an entry's name and the arguments with which the functions of `os` find it."""
        return (str(self.path / name), {}) if self._descriptor is None else (name, {"dir_fd": self._descriptor})

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _open_regular(target: str, path: Path, folder: int | None, *, follow: bool = False) -> int:
    _check_regular(os.stat(target, dir_fd=folder, follow_symlinks=follow), path)
    try:
        descriptor = os.open(target, _READ & ~_NO_LINK if follow else _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):  # replaced by a link or a socket meanwhile
            raise LinkError(path, "a link") from error
        raise
    try:
        _check_regular(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(status: os.stat_result, path: Path) -> None:
    if _is_link(status):
        raise LinkError(path, "a link")
    if stat.S_ISDIR(status.st_mode):
        raise LinkError(path, "a folder")
    if not stat.S_ISREG(status.st_mode):
        raise LinkError(path, "a special file")


def _open_folder(target: str, path: Path, folder: int | None) -> int | None:
    status = os.stat(target, dir_fd=folder, follow_symlinks=False)
    if _is_link(status):
        raise LinkError(path, "a link")
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if not _HAS_DESCRIPTORS:
        return None
    try:
        return os.open(target, os.O_RDONLY | os.O_DIRECTORY | _COMMON, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):  # replaced meanwhile
            raise LinkError(path, "a link") from error
        raise


def _is_link(status: os.stat_result) -> bool:
    """Return whether a file is a link; on Windows also a junction."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) in _WINDOWS_LINKS
