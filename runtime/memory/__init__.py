"""Memory of a user across sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from runtime.memory.in_memory_memory_service import InMemoryMemoryService
    from runtime.memory.memory_entry import MemoryEntry

__all__ = ["BaseMemoryService", "InMemoryMemoryService", "MemoryEntry", "SearchMemoryResponse"]

__getattr__ = lazy_exports(
    __name__,
    {
        "BaseMemoryService": "runtime.memory.base_memory_service",
        "InMemoryMemoryService": "runtime.memory.in_memory_memory_service",
        "MemoryEntry": "runtime.memory.memory_entry",
        "SearchMemoryResponse": "runtime.memory.base_memory_service",
    },
)
