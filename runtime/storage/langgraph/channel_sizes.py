"""What fills a database of checkpoints: bytes by channel, and how many of these are equal copies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from runtime.storage.langgraph.values import UnreadableError, stored_channels


class ChannelSize(NamedTuple):
    """The stored values of a channel in all checkpoints.

    Attributes:
        channel: its name.
        values: how many there are.
        bytes: their bytes.
        copied: bytes of those that are equal to an earlier one of the same thread.
    """

    channel: str
    values: int
    bytes: int
    copied: int


def channel_sizes(rows: Iterable[tuple[Any, Any, Any]]) -> list[ChannelSize]:
    """Return the sizes of the channels, the largest first.

    Args:
        rows: the thread, type and blob of each checkpoint.
    """
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    seen: set[tuple[Any, str, bytes]] = set()
    for thread, kind, stored in rows:
        try:
            channels = stored_channels(kind, stored)
        except UnreadableError:
            continue
        for channel, data in channels.items():
            name = (thread, channel, blake2b(data, digest_size=12).digest())
            count = counts[channel]
            count[0] += 1
            count[1] += len(data)
            count[2] += len(data) if name in seen else 0
            seen.add(name)
    return sorted((ChannelSize(channel, *count) for channel, count in counts.items()), key=lambda size: -size.bytes)
