"""What all objects of one runtime share."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from npu_conformance.reference.runtime.app_memory import AppMemory
from npu_conformance.reference.runtime.backend import Compiler, MemoryMaker, Pools
from npu_conformance.reference.runtime.objects.extensions import Extensions
from npu_conformance.specs.versions import Version


class Environment(msgspec.Struct, frozen=True):
    """level: the runtime's feature level. app_memory: what lies behind descriptors; pools: all memory, by token.

    property_value: of a system property, empty where it has its default.
    """

    level: Version
    app_memory: AppMemory
    pools: Pools
    compiler: Compiler
    memories: MemoryMaker
    extensions: Extensions
    property_value: Callable[[str], str]

    @property
    def is_since_level_5(self) -> bool:
        """Whether the runtime behaves as from feature level 5 on, where it came as a module of its own."""
        return self.level >= Version.FL5
