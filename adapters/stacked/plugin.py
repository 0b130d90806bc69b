"""The reference runtime on top of a plug-in that has a device alone, so that the tests of apps run too.

`--plugin stacked:P`, where P names any plug-in. The device is the one driver of the runtime; what it does not support,
and what it does slower than the CPU by its own account, the runtime's CPU computes. A Python plug-in and a shared
library live in the runtime's process, and the tests of drivers run on their device as they do without a runtime. A
driver in another process (exec:, unix:, tcp:, shim:) is called from there, and is tested by itself with `--plugin P`.
Where it ends the runtime's process ends with it, so that `--reset-command` is run, and a new runtime waits for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from npu_conformance.adapters.stacked.below_runtime import BelowRuntime
from npu_conformance.adapters.stacked.reaching import reached
from npu_conformance.adapters.stacked.remote_device import RemoteDevice
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.reference.extensions import own
from npu_conformance.reference.runtime.planning.services import LivingService
from npu_conformance.reference.runtime.service import RuntimeService
from npu_conformance.specs import versions
from npu_conformance.specs.manifest import InterfaceName, Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST, Version

_LEVEL, _PREFER = "feature_level", "prefer"
_PREFERENCES = ("cost", "device")
_OWN: tuple[InterfaceName, ...] = ("runtime", "runtime_control")


def over(below: Plugin, *, replaces_runtime: bool = False) -> Plugin:
    """The plug-in with everything that `below` has, and a runtime over its device.

    replaces_runtime: the device is one of a runtime of its own, which is out of sight then.
    """

    def manifest(options: Mapping[str, str]) -> Manifest:
        found = below.describe(options)
        kept = [name for name in found.interfaces if name not in _OWN]
        return _with_runtime(found, options, kept, replaces_runtime)

    def create(context: Context) -> Subject:
        def made(nnapi: RuntimeService) -> Subject:
            return below.create(nnapi.driver_context)

        return _create(made, below.describe(context.options), context)

    return Plugin(manifest=manifest, create=create)


def over_elsewhere(spec: str, *, replaces_runtime: bool = False) -> Plugin:
    """A runtime over the device of a driver that lives in another process. spec: exec:, unix:, tcp: or shim:.

    replaces_runtime: as of `over`.
    """
    known: dict[tuple[tuple[str, str], ...], Manifest] = {}

    def described(options: Mapping[str, str]) -> Manifest:
        """Ask the driver, once: the process that imports plug-ins must be quick to fork.

        It may be another user's: what it names to be run is left out, or would count as named by this plug-in.
        """
        key = tuple(sorted(options.items()))
        if key not in known:
            subject = open_subject(spec, _below(options))
            known[key] = replace(subject.manifest, reset_command=(), inference_tool=None)
            subject.close()
        return known[key]

    def manifest(options: Mapping[str, str]) -> Manifest:
        return replace(_with_runtime(described(options), options, [], replaces_runtime), restart="fork")

    def create(context: Context) -> Subject:
        subject = reached(spec, _below(context.options))

        def made(nnapi: RuntimeService) -> Subject:
            device, lent = subject.interfaces.device, nnapi.driver_context
            return Subject(device=device and RemoteDevice(device, subject, lent.memory, lent.files))

        return dataclasses.replace(_create(made, subject.manifest, context), device=None)

    return Plugin(manifest=manifest, create=create)


def _below(options: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if name not in (_LEVEL, _PREFER)}


def _level(options: Mapping[str, str]) -> Version:
    return versions.parse(options.get(_LEVEL, NEWEST.value))


def _is_preferred(options: Mapping[str, str]) -> bool:
    wanted = options.get(_PREFER, "cost")
    if wanted not in _PREFERENCES:
        raise LoadError(f"stacked: option prefer: expected {' or '.join(_PREFERENCES)}, found {wanted!r}")
    return wanted == "device"


def _with_runtime(
    below: Manifest, options: Mapping[str, str], kept: list[InterfaceName], replaces_runtime: bool
) -> Manifest:
    """The manifest of both. kept: interfaces of the one below. Raises LoadError where it has no device, or a
    runtime already.
    """
    if "device" not in below.interfaces:
        raise LoadError(f"stacked: {below.name} has no device to put a runtime on")
    if "runtime" in below.interfaces and not replaces_runtime:
        raise LoadError(f"stacked: {below.name} has a runtime of its own; use it without stacked:")
    limits = below.deadlines
    _is_preferred(options)  # a word that is neither is told here
    return replace(
        below,
        interfaces=(*kept, *_OWN),
        feature_level=_level(options),
        checks_handles=True,
        exact_result_codes=True,
        # A call of the runtime may prepare a model, and execute one.
        deadlines=replace(limits, call=max(limits.prepare, limits.execute, limits.call)),
        options={
            **below.options,
            _LEVEL: "of the reference runtime on top, 1.0 to fl8 (default: the newest)",
            _PREFER: "device: the runtime takes it to be faster than its CPU, so that it executes all that it "
            "supports; cost: what it says of its performance decides (default: cost)",
        },
    )


def _create(make: Callable[[RuntimeService], Subject], below: Manifest, context: Context) -> Subject:
    nnapi = RuntimeService(context, _level(context.options))
    subject = make(nnapi)
    if subject.device is None:
        raise LoadError(f"stacked: {below.name} names a device in its manifest and has none")
    if context.own_process:
        own.register()  # for the scripted drivers of tests that are about extensions
    device = BelowRuntime(subject.device, below.hal_version, is_preferred=_is_preferred(context.options))
    driver = LivingService(below.instance or below.name, below.hal_version, device)
    runtime, control = nnapi.start([driver])
    return dataclasses.replace(subject, runtime=runtime, runtime_control=control)
