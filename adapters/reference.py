"""The plug-in of the project's own implementation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.extensions import own
from npu_conformance.reference.hal import scheduling_workload
from npu_conformance.reference.hal.device import CACHE_FILES, ReferenceDevice
from npu_conformance.reference.hal.device_work import DeviceWork
from npu_conformance.reference.manager import service
from npu_conformance.reference.npu_buffers.heaps import DEFAULT_HEAPS
from npu_conformance.reference.real_time import RealTimers
from npu_conformance.reference.runtime.planning.services import LivingService
from npu_conformance.reference.runtime.service import RuntimeService
from npu_conformance.specs import versions
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension
from npu_conformance.specs.npu.types import ModelPriority
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST, Version

_INSTANCE = "reference-npu"
_EXTENSIONS = {"none": 0, "one": 1, "two": 2}


def _version(options: Mapping[str, str]) -> Version:
    return versions.parse(options.get("hal", NEWEST.value))


def _feature_level(options: Mapping[str, str]) -> Version:
    return versions.parse(options.get("feature_level", NEWEST.value))


def _profile(options: Mapping[str, str]) -> Literal["aosp", "page"]:
    match options.get("npu_profile", "page"):
        case "aosp" | "page" as profile:
            return profile
        case other:
            raise ValueError(f"option npu_profile: expected aosp or page, found {other!r}")


def _constants(options: Mapping[str, str]) -> dict[str, int]:
    number = service.opportunistic(options)
    return {} if number == ModelPriority.OPPORTUNISTIC else {"NPU_MODEL_PRIORITY_OPPORTUNISTIC": number}


def _is_real(options: Mapping[str, str]) -> bool:
    clock = options.get("clock", "virtual")
    if clock not in ("virtual", "real"):
        raise ValueError(f"option clock: expected virtual or real, found {clock!r}")
    return clock == "real"


def _extensions(context: Context) -> tuple[RegisteredExtension, ...]:
    count = context.options.get("extensions", "two")
    if count not in _EXTENSIONS:
        raise ValueError(f"option extensions: expected one of {', '.join(_EXTENSIONS)}, found {count!r}")
    return own.register(_EXTENSIONS[count]) if context.own_process else own.registered()


def _manifest(options: Mapping[str, str]) -> Manifest:
    return Manifest(
        name="reference",
        vendor="npu-conformance",
        version="1",
        interfaces=(
            "device",
            "scheduling",
            "workload",
            "scheduling_control",
            "manager",
            "manager_control",
            "runtime",
            "runtime_control",
        ),
        hal_version=_version(options),
        feature_level=_feature_level(options),
        checks_handles=True,
        instance=_INSTANCE,
        concurrent_calls=8,
        virtual_clock=not _is_real(options),
        npu_profile=_profile(options),
        npu_checkpoint_ms=10,
        npu_schedules_executions=_is_real(options),
        constants=_constants(options),
        options={
            "hal": "version of the Neural Networks HAL, 1.0 to fl8 (default: the newest)",
            "feature_level": "of the NNAPI runtime: 1.0 to 1.3 for the levels 1 to 4, fl5 to fl8 (default: the newest)",
            "extensions": "how many of its own extensions it has: none, one or two (default: two)",
            "cache_files": f"model-cache and data-cache files it wants, 0+0 for no caching (default: {CACHE_FILES})",
            "npu_profile": "whose npu interfaces it has: page, those of the public page, or aosp (default: page)",
            "opportunistic": "number of NPU_MODEL_PRIORITY_OPPORTUNISTIC (default: 2000)",
            "heaps": f"memory of NPU buffers, DEVICE:TYPE=MIB,... or none (default: {DEFAULT_HEAPS})",
            "preemption": "what a running execution does for a more urgent one: resume, submodels, restart or none "
            "(default: resume)",
            "clock": "virtual, or real: manager and scheduling as a service of their own, and executions of the device "
            "are work of the scheduling HAL (default: virtual)",
        },
    )


def _create(context: Context) -> Subject:
    is_real, profile = _is_real(context.options), _profile(context.options)
    clock = RealTimers() if is_real else VirtualClock()
    scheduling, workload, scheduling_control = scheduling_workload.create(context, clock)
    manager, control = service.create(
        dataclasses.replace(context, clock=clock),
        scheduling,
        scheduling.settle,
        real_time=is_real,
        declared_only=profile == "page",
    )
    apps = DeviceWork(scheduling) if is_real else None
    nnapi = RuntimeService(context, _feature_level(context.options))
    version = _version(context.options)
    device = ReferenceDevice(nnapi.driver_context, version, _extensions(context), apps)
    runtime, runtime_control = nnapi.start([LivingService(_INSTANCE, version, device)])
    return Subject(
        device=device,
        scheduling=scheduling,
        workload=workload,
        scheduling_control=scheduling_control,
        manager=manager,
        manager_control=control,
        runtime=runtime,
        runtime_control=runtime_control,
    )


plugin = Plugin(manifest=_manifest, create=_create)
"""The reference driver and NPU Manager. Options: see its manifest.

Its extensions are known to a process as a whole: where it shares one with the harness, it has those that are
registered there.
"""
