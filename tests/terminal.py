"""A program in a pseudo-terminal, driven like a person types."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path
from types import TracebackType


class Terminal:
    """A process whose input and output are a terminal.

    Attributes:
        said: everything that the terminal received, with control sequences.

    Args:
        command: the program and its arguments.
        environ: its environment.
        cwd: its folder.
        columns: the terminal's width.
        stdout: where stdout goes instead of the terminal; None: to the terminal.
    """

    def __init__(self, command: list[str], environ: dict[str, str], cwd: Path, columns: int = 200, stdout: int | None = None) -> None:
        self.said = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))

        def take_terminal() -> None:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            env={**{name: value for name, value in environ.items() if name not in ("COLUMNS", "LINES")}, "TERM": "xterm"},
            cwd=cwd,
            preexec_fn=take_terminal,
        )
        os.close(slave)

    def type(self, text: str) -> None:
        """Type some keys."""
        os.write(self._master, text.encode())

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Read until the terminal has received a text since this call."""
        begin, deadline = len(self.said), time.monotonic() + seconds
        while text not in self.said[begin:]:
            assert time.monotonic() < deadline, f"{text!r} did not come: {self.said[begin:]!r}"
            self._read(0.1)

    def wait_for_end(self, seconds: float = 60) -> int:
        """Read until the program ends, and return its exit status."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"the program does not end: {self.said!r}"
            self._read(0.1)
        while self._read(0):
            pass
        return self.process.wait()

    def screen(self) -> list[str]:
        """Return the lines that a person sees at last: what was erased is missing, and colours are left out."""
        lines, row = [""], 0
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r\n|\r|[^\x1b\r]+", self.said):
            if part == "\r\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif part.endswith("A") and part.startswith("\x1b["):
                row -= int(part[2:-1] or 1)
            elif part == "\x1b[2K":
                lines[row] = ""
            elif part != "\r" and not part.startswith("\x1b["):
                lines[row] += part
        return lines

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            found = os.read(self._master, 65_536)
        except OSError:  # the other end is closed
            return False
        self.said += self._decoder.decode(found)
        return bool(found)

    def __enter__(self) -> Terminal:
        """Return this object."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the program."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)
