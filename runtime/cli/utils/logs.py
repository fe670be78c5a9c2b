"""Logging for scripts that run agents."""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path

LOGGING_FORMAT = "%(asctime)s - %(levelname)s - %(filename)s:%(lineno)d - %(message)s"


def setup_adk_logger(level: int = logging.INFO) -> None:
    """Log to the standard error, the messages of the runtime from a level on.

    Args:
        level: a level of `logging`.
    """
    logging.basicConfig(level=level, format=LOGGING_FORMAT)
    logging.getLogger("runtime").setLevel(level)


def log_to_tmp_folder(
    level: int = logging.INFO, *, sub_folder: str = "agents_log", log_file_prefix: str = "agent", log_file_timestamp: str | None = None
) -> str:
    """Log to a new file in the system's folder of temporary files, and no more to the standard error.

    Args:
        level: a level of `logging`.
        sub_folder: the folder's name.
        log_file_prefix: the beginning of the file's name.
        log_file_timestamp: the next part of its name; the present time if None.

    Returns:
        The file's path. A link `PREFIX.latest.log` beside it leads to the newest file, where links can be made.
    """
    folder = Path(tempfile.gettempdir(), sub_folder)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{log_file_prefix}.{log_file_timestamp or time.strftime('%Y%m%d_%H%M%S')}.log"
    handler = logging.FileHandler(file, mode="w")
    handler.setLevel(level)
    handler.setFormatter(logging.Formatter(LOGGING_FORMAT))
    root = logging.getLogger()
    root.setLevel(level)
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    latest = folder / f"{log_file_prefix}.latest.log"
    try:
        latest.unlink(missing_ok=True)
        latest.symlink_to(file)
    except OSError:  # the system, or the file system, has no links
        latest = file
    sys.stdout.write(f"Messages are logged to {file}.\nTo follow them: tail -F {latest}\n")
    return str(file)
