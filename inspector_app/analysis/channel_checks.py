"""What fills a file of LangGraph's checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector_app.analysis.finding import Finding
from inspector_app.presentation.values import visible
from runtime.storage.langgraph.channel_sizes import ChannelSize

LARGE = 1_000_000  # bytes of all checkpoints; less is no reason to act
_NAMED = 5  # channels


def large_channels(sizes: Sequence[ChannelSize]) -> Iterator[Finding]:
    """Find the channels that fill a file, and the copies in it.

    Args:
        sizes: the channels, the largest first.
    """
    total, copied = sum(size.bytes for size in sizes), sum(size.copied for size in sizes)
    if total < LARGE:
        return
    named = [f"{visible(size.channel)} {_megabytes(size.bytes)}" for size in sizes[:_NAMED] if size.bytes * 20 > total]
    yield Finding(
        "size of checkpoints",
        "note",
        f"The checkpoints hold {_megabytes(total)}, {_megabytes(copied)} of it equal copies. The largest channels: {', '.join(named)}.",
        "Each checkpoint stores the whole value of each channel, changed or not.",
        "Keep large values outside of the state, or delete threads that are done with the checkpointer's delete_thread.",
    )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
