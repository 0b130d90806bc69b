"""The reference runtime on top of a plug-in that has a device alone, so that the tests of apps run too.

`--plugin stacked:P`, where P names a Python plug-in. The device is the one driver of the runtime; what it does not
support, and what it does slower than the CPU by its own account, the runtime's CPU computes. The tests of drivers run
on the device as they do without a runtime.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from msgspec.structs import replace

from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.reference.extensions import own
from npu_conformance.reference.runtime.planning.services import LivingService
from npu_conformance.reference.runtime.service import RuntimeService
from npu_conformance.specs import versions
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST, Version


def over(below: Plugin) -> Plugin:
    """The plug-in with everything that `below` has, and a runtime over its device."""

    def manifest(options: Mapping[str, str]) -> Manifest:
        return _with_runtime(below.describe(options), _level(options))

    def create(context: Context) -> Subject:
        return _create(below, context)

    return Plugin(manifest=manifest, create=create)


def _level(options: Mapping[str, str]) -> Version:
    return versions.parse(options.get("feature_level", NEWEST.value))


def _with_runtime(below: Manifest, level: Version) -> Manifest:
    """The manifest of both. Raises LoadError where there is no device, or a runtime already."""
    if "device" not in below.interfaces:
        raise LoadError(f"stacked: {below.name} has no device to put a runtime on")
    if "runtime" in below.interfaces:
        raise LoadError(f"stacked: {below.name} has a runtime of its own; use it without stacked:")
    return replace(
        below,
        interfaces=(*below.interfaces, "runtime", "runtime_control"),
        feature_level=level,
        checks_handles=True,
        options={**below.options, "feature_level": "of the reference runtime on top, 1.0 to fl8 (default: the newest)"},
    )


def _create(below: Plugin, context: Context) -> Subject:
    nnapi = RuntimeService(context, _level(context.options))
    subject, facts = below.create(nnapi.driver_context), below.describe(context.options)
    if subject.device is None:
        raise LoadError(f"stacked: {facts.name} names a device in its manifest and has none")
    if context.own_process:
        own.register()  # for the scripted drivers of tests that are about extensions
    driver = LivingService(facts.instance or facts.name, facts.hal_version, subject.device)
    runtime, control = nnapi.start([driver])
    return dataclasses.replace(subject, runtime=runtime, runtime_control=control)
