"""Memory of a user across sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from runtime.memory.in_memory_memory_service import InMemoryMemoryService
    from runtime.memory.memory_entry import MemoryEntry

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.memory.base_memory_service": "BaseMemoryService SearchMemoryResponse",
        "runtime.memory.in_memory_memory_service": "InMemoryMemoryService",
        "runtime.memory.memory_entry": "MemoryEntry",
    },
)
