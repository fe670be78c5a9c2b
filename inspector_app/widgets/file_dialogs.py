"""The file dialogs: each opens in the folder of what was chosen last, and proposes a name for a new file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

_folders: tuple[Callable[[str], str], Callable[[str, str], object]] | None = None  # see `remember_folders`


def remember_folders(read: Callable[[str], str], keep: Callable[[str, str], object]) -> None:
    """Set where the folders of what is chosen are remembered.

    Args:
        read: kind of what is chosen → its last folder; empty for none.
        keep: remembers the folder of a kind.
    """
    global _folders  # dialogs are opened in many places, by a parent alone
    _folders = read, keep


def ask_for_existing(
    parent: QWidget | None, title: str, chosen: Callable[[str], object], *, filters: str = "", folder: bool = False, kind: str = "files"
) -> QFileDialog:
    """Ask for a file or folder that exists; return the open dialog.

    Args:
        parent: the window.
        title: of the dialog.
        chosen: receives the path.
        filters: patterns of names, as Qt takes them; empty for all files.
        folder: whether a folder is asked for.
        kind: what is chosen; each kind has a last folder of its own.
    """
    dialog = QFileDialog(parent, title, fileMode=QFileDialog.FileMode.Directory if folder else QFileDialog.FileMode.ExistingFile)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, folder)
    if filters:
        dialog.setNameFilter(filters)
    dialog.fileSelected.connect(chosen)
    _open(dialog, kind)
    return dialog


def ask_where_to_write(
    parent: QWidget | None, title: str, name: str, formats: Mapping[str, str], chosen: Callable[[str], object], *, adds: bool = False
) -> QFileDialog:
    """Ask for a file to write; return the open dialog.

    Args:
        parent: the window.
        title: of the dialog.
        name: the proposed name, without suffix; characters that a file name cannot have are replaced.
        formats: pattern of names, as Qt takes it → its suffix, with the dot; the first one is proposed.
        chosen: receives the path.
        adds: whether a file that exists is added to, and no question is asked about replacing it.
    """
    dialog = QFileDialog(parent, title, acceptMode=QFileDialog.AcceptMode.AcceptSave, fileMode=QFileDialog.FileMode.AnyFile)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, adds)
    dialog.setNameFilters(list(formats))
    suffix = next(iter(formats.values()))
    dialog.setDefaultSuffix(suffix[1:])
    dialog.filterSelected.connect(lambda pattern: dialog.setDefaultSuffix(formats[pattern][1:]))
    dialog.fileSelected.connect(chosen)
    _open(dialog, "files", _file_name(name) + suffix)
    return dialog


def _open(dialog: QFileDialog, kind: str, name: str = "") -> None:
    last = _folders[0](kind) if _folders is not None else ""
    if last and Path(last).is_dir():
        dialog.setDirectory(last)
    if name:
        dialog.selectFile(name)
    dialog.fileSelected.connect(lambda path: _keep(kind, path))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def _keep(kind: str, path: str) -> None:
    if _folders is not None:
        _folders[1](kind, str(Path(path).absolute().parent))


def _file_name(text: str) -> str:
    """Return a text as the name of a file."""
    plain = "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in text)[:80]
    return plain.encode()[:200].decode(errors="ignore").strip(". ") or "session"  # a name has at most 255 bytes
