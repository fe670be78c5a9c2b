"""Progress of a long command with the time left, on stderr and only on a terminal."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 1.0  # seconds without output before it appears
_BETWEEN = 0.1  # seconds between two updates
_STEPS = 64  # items between two looks at the clock


class Progress:
    """A bar that appears after a second and disappears at the end. It is a context manager.

    Args:
        title: what is done, such as `Reading events`.
        total: returns the number of steps; called when the bar appears.
    """

    def __init__(self, title: str, total: Callable[[], int]) -> None:
        self._title = title
        self._total = total
        self._is_wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._next = time.monotonic() + _PATIENCE
        self._bar: Any = None

    def show(self, done: int) -> None:
        """Display the number of steps done so far, if it is time to."""
        if not self._is_wanted or time.monotonic() < self._next:
            return
        if self._bar is None:
            self._bar = _bar(self._title, self._total())
        self._bar.update(self._bar.task_ids[0], completed=done)
        self._bar.refresh()
        self._next = time.monotonic() + _BETWEEN

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, each of which is a step."""
        for number, item in enumerate(items):
            if number % _STEPS == 0:
                self.show(number)
            yield item

    def hide(self) -> None:
        """Remove the bar before other output; it appears again after a second without any."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self._is_wanted:
            self._next = time.monotonic() + _PATIENCE

    def __enter__(self) -> Progress:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        self.hide()


def _bar(title: str, total: int) -> Any:
    # rich takes longer to load than most commands run.
    rich, console = importlib.import_module("rich.progress"), importlib.import_module("rich.console")
    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TaskProgressColumn(), rich.TimeRemainingColumn())
    bar = rich.Progress(
        *columns,
        console=console.Console(stderr=True),
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,  # or results would be printed above the bar, on stderr
        redirect_stderr=False,
    )
    bar.add_task(title, total=total)
    bar.start()
    return bar
