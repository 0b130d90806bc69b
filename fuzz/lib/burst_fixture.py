"""A subject's bursts with the memory of a history, whatever the version: AIDL's calls, or HIDL's packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from npu_conformance.fuzz.lib.burst_steps import HALF, MEMORIES
from npu_conformance.fuzz.lib.request_judge import Prepared
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.executing.burst_channel import Channel
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.versions import Version

SIZE = 2 * HALF
"""Bytes of each memory."""


@dataclass
class OpenBurst:
    """One burst. tokens: for each that is known, the serial numbers of the memories that it may stand for.

    AIDL's burst is `calls`, HIDL's is `channel`. More than one memory: the client has misused the token.
    """

    found: Prepared
    calls: hal.Burst | None = None
    channel: Channel | None = None
    tokens: dict[int, set[int]] = field(default_factory=dict)

    def note(self, tokens: Sequence[int], serials: Sequence[int | None]) -> bool:
        """Note which memory the client has called what; true where one of the tokens may stand for another memory."""
        is_misused = False
        for token, serial in zip(tokens, serials, strict=False):
            if token >= 0 or self.channel is not None:
                known = self.tokens.setdefault(token, set())
                known |= {serial} if serial is not None else set()
                is_misused |= len(known) > 1
        return is_misused

    def release(self, token: int) -> None:
        """Let the driver forget a memory. Raises ServiceError."""
        if self.channel is not None:
            self.channel.burst_context.free_memory(token)
        elif self.calls is not None:
            self.calls.release_memory_resource(token)


class BurstFixture:
    """The memories of one history. serials: of the memory that has a number now; memory that is freed has none."""

    def __init__(self, subject: SubjectHandle) -> None:
        self.subject = subject
        self.pools: dict[int, Pool] = {}
        self._queues: list[Pool] = []
        self._next = 0
        self._used: set[int] = set()
        self.serials = [self._create() for _ in range(MEMORIES)]

    @property
    def version(self) -> Version:
        """The version that is tested."""
        return self.subject.version

    @property
    def manifest(self) -> Manifest:
        """The subject's manifest."""
        return self.subject.manifest

    def pool(self, size: int) -> Pool:
        """Memory for a queue of HIDL, until the history ends."""
        self._queues.append(self.subject.memory.create("ashmem", size))
        return self._queues[-1]

    def renew(self, number: int) -> None:
        """Free a memory; another one has its number from now on. One that nobody has used stays: it is as good."""
        if self.serials[number] not in self._used:
            return
        old = self.pools.pop(self.serials[number])
        # A driver may still have it mapped, where the client has not released its token.
        old.apart = True
        old.close()
        self.serials[number] = self._create()

    def fill(self, contents: dict[int, bytearray]) -> None:
        """Put these bytes into the memories."""
        self._used |= contents.keys()
        for serial, content in contents.items():
            self.pools[serial].write(0, content)

    def blank(self) -> dict[int, bytearray]:
        """What memories hold before an execution, beside its inputs."""
        return {serial: bytearray([FILL]) * SIZE for serial in self.pools}

    def read(self) -> dict[int, bytes]:
        """What is in the memories."""
        return {serial: pool.read(0, SIZE) for serial, pool in self.pools.items()}

    def close(self) -> None:
        """Free all memory."""
        for pool in (*self.pools.values(), *self._queues):
            pool.close()

    def _create(self) -> int:
        self._next += 1
        self.pools[self._next] = self.subject.memory.create("ashmem", SIZE)
        return self._next
