"""The reference runtime on top of a plug-in that has a device alone."""

from __future__ import annotations

import pytest

from npu_conformance.adapters import reference, stacked
from npu_conformance.harness.subject.inprocess import InProcessSubject
from npu_conformance.harness.subject.plugin_loading import LoadError, load_plugin
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.plugin import Caller, Context, Plugin, Subject
from npu_conformance.specs.versions import Version

_DEVICE_ONLY = Manifest(name="below", vendor="somebody", version="1", hal_version=Version.V1_3, instance="below-npu")


def _below(manifest: Manifest = _DEVICE_ONLY, *, has_device: bool = True) -> Plugin:
    def create(context: Context) -> Subject:
        return Subject(device=reference.plugin.create(context).device if has_device else None)

    return Plugin(manifest=manifest, create=create)


plugin = _below()


def test_the_runtime_has_the_device_below_and_its_own_cpu() -> None:
    subject = InProcessSubject(f"stacked:{__name__}:plugin", {}, None, None)
    try:
        runtime = subject.interfaces.runtime
        assert runtime is not None
        devices = [runtime.get_device(index, True).handle for index in range(runtime.get_device_count(True).value)]
        assert [runtime.device_get_name(device, True).value for device in devices] == ["below-npu", "nnapi-reference"]
    finally:
        subject.close()


def test_what_was_executed_is_told_by_device_and_once() -> None:
    subject = InProcessSubject(f"stacked:{__name__}:plugin", {}, None, None)
    try:
        control = subject.interfaces.runtime_control
        assert control is not None
        assert [(one.device, one.operations) for one in control.executed_operations()] == [
            ("below-npu", ()),
            ("nnapi-reference", ()),
        ]
    finally:
        subject.close()


def test_the_manifest_keeps_what_is_below() -> None:
    found = stacked.over(_below()).describe({"feature_level": "1.2"})
    assert found.interfaces == ("device", "runtime", "runtime_control")
    assert (found.name, found.hal_version, found.feature_level) == ("below", Version.V1_3, Version.V1_2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [("stacked:reference", "has a runtime of its own"), ("stacked:nobody", "unknown plug-in 'nobody'")],
)
def test_nothing_to_stack_is_one_line(spec: str, words: str) -> None:
    with pytest.raises(LoadError, match=words):
        load_plugin(spec).describe({})


def test_a_plugin_without_device_is_one_line() -> None:
    manifest = Manifest(name="below", vendor="somebody", version="1", interfaces=("manager",))
    with pytest.raises(LoadError, match="has no device to put a runtime on"):
        stacked.over(_below(manifest)).describe({})


def test_a_missing_device_is_one_line() -> None:
    with pytest.raises(LoadError, match="names a device in its manifest and has none"):
        stacked.over(_below(has_device=False)).create(Context(memory=_NoMemory(), caller=_nobody))


class _NoMemory:
    def map(self, memory: object) -> memoryview:
        raise AssertionError("nothing is mapped")


def _nobody() -> Caller:
    raise AssertionError("nobody calls")


def test_device_is_the_one_below() -> None:
    subject = InProcessSubject(f"stacked:{__name__}:plugin", {}, None, None)
    try:
        assert isinstance(subject.interfaces.device, Device)
    finally:
        subject.close()
