"""Which devices there are, in which order, and what they say of themselves."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import CPU, RuntimeApp
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import DeviceType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import FEATURE_LEVELS, RuntimeDeviceType
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import HIDL_LAST, NEWEST, Version

cases = CaseGroup("cts.introspection.devices", interface="runtime", since=Version.V1_2)

_QUERIES = (
    "get_capabilities",
    "get_version_string",
    "get_type",
    "get_supported_extensions",
    "get_number_of_cache_files_needed",
)
_TYPES = (DeviceType.OTHER, DeviceType.CPU, DeviceType.GPU, DeviceType.ACCELERATOR)


@cases.case("stable", "FW-DEV-001", scope=Scope.SMOKE)
def stable(context: CaseContext) -> None:
    """The count and the handles of the devices stay the same, and no two devices share a name."""
    app = RuntimeApp(context)
    first, second = app.devices(), app.devices()
    checks.equal(second, first, "devices, asked for again")
    names = [app.succeed("device_get_name", device, True).value for device in first]
    checks.equal(len(set(names)), len(names), f"different names among {names}")


@cases.case("cpu", "FW-DEV-001", scope=Scope.SMOKE)
def cpu(context: CaseContext) -> None:
    """The runtime's own CPU is a device: nnapi-reference, of type CPU."""
    app = RuntimeApp(context)
    types = {
        app.succeed("device_get_name", device, True).value: app.succeed("device_get_type", device, True).value
        for device in app.devices()
    }
    checks.member(CPU, types, "names of the devices")
    checks.equal(types[CPU], int(RuntimeDeviceType.CPU), f"type of {CPU}")


@cases.case("order", "FW-DEV-001")
def order(context: CaseContext) -> None:
    """Every driver is a device, and the CPU. Another order than AOSP's (by registration, the CPU last) is a warning."""
    app, usual = ScriptedApp(context, driver("zeta"), driver("alpha"), driver("mid")), ["zeta", "alpha", "mid", CPU]
    found = app.names()
    checks.equal(sorted(found), sorted(usual), "devices")
    if found != usual:
        context.warn_quality(f"devices are {', '.join(found)}: apps that count on Android's order expect the CPU last")


@cases.case("no_drivers", "FW-DEV-001")
def no_drivers(context: CaseContext) -> None:
    """Where there is no driver there is still the CPU."""
    checks.equal(ScriptedApp(context).names(), [CPU], "devices")


@cases.case("types", "FW-DEV-002")
def types(context: CaseContext) -> None:
    """A device has the type that its driver says."""
    app = ScriptedApp(context, *(driver(f"one-{kind.name.lower()}", type=kind) for kind in _TYPES))
    for kind in _TYPES:
        (device,) = app.named(f"one-{kind.name.lower()}")
        checks.equal(app.succeed("device_get_type", device, True).value, int(kind), f"type of a driver of {kind.name}")


@cases.case("version_strings", "FW-DEV-002")
def version_strings(context: CaseContext) -> None:
    """A device has the version string that its driver says."""
    texts = ("1", "2.0-rc.3", "vendor build 17")
    app = ScriptedApp(context, *(driver(f"one-{index}", version_string=text) for index, text in enumerate(texts)))
    for index, text in enumerate(texts):
        (device,) = app.named(f"one-{index}")
        checks.equal(app.succeed("device_get_version", device, True).value, text, "version string")


@cases.case("feature_levels", "FW-VER-002", "FW-DEV-002")
def feature_levels(context: CaseContext) -> None:
    """A device has the feature level of its HAL, and never one above the runtime's."""
    newest = NEWEST if context.manifest.feature_level.is_aidl else HIDL_LAST
    hals = [hal for hal in Version if hal <= newest]
    app = ScriptedApp(context, *(driver(f"one-{hal}", hal=hal) for hal in hals))
    for hal in hals:
        (device,) = app.named(f"one-{hal}")
        expected = FEATURE_LEVELS[min(hal, app.level)]
        checks.equal(
            app.succeed("device_get_feature_level", device, True).value, expected, f"level of a driver of {hal}"
        )


@cases.case("own_devices", "FW-VER-002", "FW-DEV-002")
def own_devices(context: CaseContext) -> None:
    """No device that the runtime has by itself has a feature level above the runtime's."""
    app = RuntimeApp(context)
    for device in app.devices():
        name = app.succeed("device_get_name", device, True).value
        level = app.succeed("device_get_feature_level", device, True).value
        checks.that(level <= FEATURE_LEVELS[app.level], f"feature level of {name}: {level}, above the runtime's")


@cases.case("runtime_feature_level", "FW-VER-002", since=Version.FL5)
def runtime_feature_level(context: CaseContext) -> None:
    """The runtime's feature level is that of its manifest, and its CPU has the same."""
    app = RuntimeApp(context)
    level = app.call("get_runtime_feature_level")
    checks.equal(level, FEATURE_LEVELS[app.level], "ANeuralNetworks_getRuntimeFeatureLevel")
    checks.equal(app.succeed("device_get_feature_level", app.cpu(), True).value, level, "feature level of the CPU")


@cases.case("queries_once", "FW-DEV-003")
def queries_once(context: CaseContext) -> None:
    """A driver is asked for its capabilities, version, type, extensions and cache files once, whatever apps ask."""
    files = NumberOfCacheFiles(1, 1)
    app = ScriptedApp(context, driver("one", cache_files=files))
    for _ in range(2):
        (device,) = app.named("one")
        for function in ("device_get_type", "device_get_version", "device_get_feature_level"):
            app.succeed(function, device, True)
    asked = [call.method for call in app.calls("one")]
    checks.equal({name: asked.count(name) for name in _QUERIES}, dict.fromkeys(_QUERIES, 1), "queries of a driver")


@cases.case("old_driver_queries", "FW-DEV-003", "FW-VER-001")
def old_driver_queries(context: CaseContext) -> None:
    """A driver of HAL 1.0 or 1.1 has capabilities alone; its type is unknown, its feature level 1 or 2."""
    app = ScriptedApp(context, *(driver(f"one-{hal}", hal=hal) for hal in (Version.V1_0, Version.V1_1)))
    for hal in (Version.V1_0, Version.V1_1):
        (device,) = app.named(f"one-{hal}")
        found = app.succeed("device_get_type", device, True).value
        checks.equal(found, int(RuntimeDeviceType.UNKNOWN), f"type of a driver of {hal}")
        asked = {call.method for call in app.calls(f"one-{hal}")} & set(_QUERIES)
        checks.equal(asked, {"get_capabilities"}, f"queries of a driver of {hal}")


@cases.case("waits", "FW-VER-005", since=Version.V1_3)
def waits(context: CaseContext) -> None:
    """Waiting for a device that is live returns at once, for the CPU too."""
    app = ScriptedApp(context, driver("one"))
    for device in app.devices():
        app.succeed("device_wait", device)
