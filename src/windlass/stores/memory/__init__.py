"""The store in memory: the specification that runs."""

from .store import MemoryStore

__all__ = ["MemoryStore"]
