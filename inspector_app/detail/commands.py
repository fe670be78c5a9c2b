"""Commands on the selected event: its code, note and state."""

from __future__ import annotations

from inspector_app.widgets.places import Places


class DetailCommands:
    """The commands of the details.

    Args:
        places: places them in the menus.
    """

    def __init__(self, places: Places) -> None:
        add = places.command
        self.open_code = add("open_code", "Open the code of this event", "code", "Ctrl+E", menu="Find", at=13)
        self.toggle_bookmark = add("toggle_bookmark", "Bookmark this event", "bookmark", "Ctrl+Shift+B", menu="Find", at=21)
        self.edit_note = add("edit_note", "Write a note on this event…", "note-sticky", "Ctrl+Shift+N", menu="Find", at=22)
        self.next_note = add("next_note", "Next bookmark or note", "arrow-down", "F4", menu="Find", at=23)
        self.previous_note = add("previous_note", "Previous bookmark or note", "arrow-up", "Shift+F4", menu="Find", at=24)
        self.find_in_state = add("find_in_state", "Find in the state", "magnifying-glass", "Ctrl+K", menu="Find", at=31, needs="open")
        self.who_wrote = add("who_wrote", "Who wrote this key", "user-pen", "Ctrl+Shift+W", menu="Find", at=32, needs="open")
        self.choose_editor = add("choose_editor", "Editor for code…", "pen-to-square", menu="View", at=13)
