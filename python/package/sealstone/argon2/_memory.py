"""Memory of hashes, and what a fork does to it."""

import os
import weakref

from sealstone._native import Memory

MEMORY = Memory()
"""The memory that hashes use if they are given no other."""

_known: "weakref.WeakSet[Memory]" = weakref.WeakSet()


def known(memory: Memory) -> Memory:
    """Has `memory` begin anew in the child of a fork."""
    _known.add(memory)
    return memory


def _after_fork() -> None:
    for memory in list(_known):
        memory._after_fork()


known(MEMORY)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
