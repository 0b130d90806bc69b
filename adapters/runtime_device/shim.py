"""`--plugin shim:P`: a device of P's runtime as a driver, where P is any plug-in that has a runtime and no device.

The shim stands in the harness's own process, in front of the runtime wherever that is: nothing of the runtime is
loaded here, and what becomes of its process is the verdict of the case, as without a shim.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from npu_conformance.adapters.runtime_device.device import RuntimeDevice
from npu_conformance.adapters.runtime_device.devices import FoundDevice, look
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.nnapi.caller_memory import PooledMemory
from npu_conformance.harness.subject.concurrency import Result
from npu_conformance.harness.subject.files import Files
from npu_conformance.harness.subject.handle import Application, SubjectHandle
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.pools import Pool, Pools
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.plugin import RealClock, Subject
from npu_conformance.specs.versions import Version


class ShimmedSubject:
    """A subject with a device of its runtime. See SubjectHandle, whose other members are those of the subject below."""

    def __init__(self, inner: SubjectHandle, spec: str, options: Mapping[str, str], version: Version | None) -> None:
        """spec: names the plug-in below. Raises LoadError where it has no runtime, has a device, or not that one."""
        self._inner, self._ends = inner, deque[Callable[[], None]]()
        self.ignores_tool = inner.ignores_tool
        found, interfaces = inner.manifest, inner.manifest.interfaces
        if "runtime" not in interfaces:
            raise LoadError(f"shim: {found.name} has no runtime whose device could be shown")
        if "device" in interfaces:
            raise LoadError(f"shim: {found.name} has a device of its own; use it without shim:")
        devices = _asked(spec, lambda: look(self._runtime))
        self._chosen = devices.chosen(spec, options)
        self.manifest: Manifest = msgspec.structs.replace(
            found,
            interfaces=("device", *interfaces),
            hal_version=devices.hal_version(self._chosen),
            options={**found.options, **devices.described_option},
        )
        self.version = version or self.manifest.hal_version
        if self.version > self.manifest.hal_version:
            raise LoadError(
                f"plug-in shim:{spec}: asked for HAL {self.version}, its device has {self.manifest.hal_version}"
            )
        self._present()

    @property
    def _runtime(self) -> Runtime:
        found = self._inner.interfaces.runtime
        if found is None:
            raise LoadError(f"shim: {self._inner.manifest.name} names a runtime in its manifest and has none")
        return found

    def _present(self) -> None:
        name = _name(self._chosen)
        device = RuntimeDevice(self._runtime, name, self.version, self, RealClock(), at_end=self._ends.append)
        self.interfaces: Subject = dataclasses.replace(self._inner.interfaces, device=device)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[PooledMemory]:
        """Caller's memory for as long as a model is built."""
        self._free()
        pools: list[Pool] = []

        def make_pool(size: int) -> Pool:
            pools.append(self._inner.memory.create("ashmem", size))
            return pools[-1]

        try:
            yield PooledMemory(make_pool)
        finally:
            for pool in pools:
                pool.close()

    def _free(self) -> None:
        """Destroy what nobody holds any more; in the middle of a call, where Python finds it out, is no time for it."""
        while self._ends:
            with contextlib.suppress(InterfaceError):  # of a process that has ended
                self._ends.popleft()()

    @property
    def memory(self) -> Pools:
        """Creates pools."""
        return self._inner.memory

    @property
    def files(self) -> Files:
        """Hands cache files over."""
        return self._inner.files

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """See SubjectHandle."""
        return self._inner.wait_until(predicate, seconds)

    def serve_pending(self) -> bool:
        """See SubjectHandle."""
        return self._inner.serve_pending()

    def ping(self) -> None:
        """See SubjectHandle."""
        self._inner.ping()

    def run_concurrently(self, calls: Sequence[Callable[[], Result]]) -> list[Result | InterfaceError]:
        """See SubjectHandle."""
        return self._inner.run_concurrently(calls)

    def application(self, uid: int, pid: int = 0) -> Application:
        """See SubjectHandle. Apps see no device."""
        return self._inner.application(uid, pid)

    def begin_case(self, case: str) -> None:
        """See SubjectHandle."""
        self._inner.begin_case(case)

    def account(self) -> Account:
        """See SubjectHandle."""
        return self._inner.account()

    def alive(self) -> bool:
        """See SubjectHandle. What the case made and nobody holds is destroyed before."""
        self._free()
        return self._inner.alive()

    def process(self) -> int:
        """See SubjectHandle."""
        return self._inner.process()

    def restart(self, version: Version | None = None) -> None:
        """See SubjectHandle. A device of a runtime serves one version."""
        if version is not None and version != self.version:
            raise NotApplicable("the subject serves one version of the HAL only")
        self._ends.clear()
        self._inner.restart()
        self._present()

    def close(self) -> None:
        """See SubjectHandle."""
        self._ends.clear()
        self._inner.close()


def _name(device: FoundDevice | None) -> str | None:
    return None if device is None else device.name


def _asked(spec: str, ask: Callable[[], Result]) -> Result:
    try:
        return ask()
    except (CaseEnded, InterfaceError) as error:
        raise LoadError(f"plug-in {spec}: asked for its devices: {error}") from None


def present(inner: SubjectHandle, spec: str, options: Mapping[str, str], version: Version | None) -> SubjectHandle:
    """The subject with a device of its runtime; it is closed where that cannot be. Raises LoadError."""
    try:
        return ShimmedSubject(inner, spec, options, version)
    except BaseException:
        inner.close()
        raise
