"""The window in a process of its own."""

from __future__ import annotations


def complaints(stderr: str) -> list[str]:
    """Return the lines that a process printed to stderr, without those that are harmless off screen."""
    return [line for line in stderr.splitlines() if "This plugin does not support" not in line]
