"""What a test must steer of a runtime, beside its API: its drivers, its system properties, who the app is.

A runtime without it is tested with the drivers that it has.
"""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import DeviceType, ErrorStatus
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.specs.wire_types import Float, HasFloat, Wire

FOR_EVER = -1


class SupportedOperation(Wire, frozen=True):
    """Operations that a scripted driver supports. activation: only with this FusedActivation; None for any."""

    type: int
    activation: int | None = None


class Misbehaviour(Wire, frozen=True):
    """One way in which a scripted driver fails.

    method: of Device or PreparedModel, as in hal.py ("prepare_model"); "execute" stands for all ways to execute.
    kind: one of
      "status"    the method answers `status`, an execution without output shapes;
      "callback"  it is launched with NONE, and the callback brings `status`; a fenced execution's fence fails;
      "reports"   a fenced execution whose fence signals, and whose callback reports `status`;
      "null"      success, without the prepared model or buffer that belongs to it;
      "dies"      the driver's process dies in the call: DeadObject;
      "dies_later" it is launched with NONE, and then the process dies: no callback comes;
      "silent"    it is launched with NONE, and no callback comes for as long as the process lives;
      "length"    an answer with one element too few (get_supported_operations, output shapes; of a single output, whose
                  shape may be left out, one too many);
      "excess"    an answer with one element too many (get_supported_operations, output shapes);
      "shapes"    one output has a shape that contradicts the model;
      "large"     one output has 2^29 of its first dimension, more bytes than 32 bits count;
      "rankless"  one output has no rank, whatever its type;
      "short"     success, and yet one output has too little room;
      "tight"     OUTPUT_INSUFFICIENT_SIZE, since one output has too little room;
      "roomy"     OUTPUT_INSUFFICIENT_SIZE, and yet every output has room enough;
      "slots"     HIDL's burst is asked for the memory of a slot that was never given, beside those that were;
      "packet"    the result packet of HIDL's burst counts one element too many;
      "token"     allocate answers token 0;
      "blocks"    it does not return until RuntimeControl.release;
      "late"      it is launched with NONE, and the callback comes once RuntimeControl.release is called;
      "lazy"      a fenced execution is launched, and computes when somebody first waits for its fence, and not before;
      "held"      a fenced execution is launched, and computes once RuntimeControl.release is called.
    A method of the queries at start ("get_type") fails when the runtime registers its drivers.
    first: the first call, counted from 1, to which it happens; count: how many calls in a row, FOR_EVER for all.
    output: of which output the answer is wrong; the last one where there are not so many.
    """

    method: str
    kind: str = "status"
    status: int = ErrorStatus.GENERAL_FAILURE
    first: int = 1
    count: int = FOR_EVER
    output: int = 0


class DriverScript(HasFloat, frozen=True):
    """A driver that computes rightly what it supports, and otherwise does what is said here.

    hal: its version of the NN HAL. operations: what it supports, None for everything. exec_time, power_usage: its
    capabilities for every type that operand_performance does not name. listed_types: the types in its capabilities,
    None for all. timing: what it says where it was asked to measure; fenced_timing: from the fences on, None for the
    same. restarts: whether a process that died is there again at once; else RuntimeControl.revive starts it. has_burst,
    has_fences, has_buffers: whether these features work.
    """

    name: str
    hal: Version = NEWEST
    version_string: str = "1"
    type: int = DeviceType.ACCELERATOR
    operations: tuple[SupportedOperation, ...] | None = None
    exec_time: Float = 0.5
    power_usage: Float = 0.5
    operand_performance: tuple[types.OperandPerformance, ...] = ()
    listed_types: tuple[int, ...] | None = None
    relaxed: types.PerformanceInfo | None = None
    if_performance: types.PerformanceInfo | None = None
    while_performance: types.PerformanceInfo | None = None
    extensions: tuple[types.Extension, ...] = ()
    cache_files: types.NumberOfCacheFiles = types.NumberOfCacheFiles(0, 0)
    timing: types.Timing | None = None
    fenced_timing: types.Timing | None = None
    restarts: bool = False
    has_burst: bool = True
    has_fences: bool = True
    has_buffers: bool = True
    misbehaviours: tuple[Misbehaviour, ...] = ()

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        return ("exec_time", "power_usage")


class DriverCall(Wire, frozen=True):
    """One call that a scripted driver got. Fields that the method has no argument for are empty.

    A packet of HIDL's burst tells no more than whether to measure. extensions: the names of the prefixes in hints.
    dimensions, input_roles, output_roles: of allocate.
    """

    method: str
    status: int
    model: types.Model | None = None
    request: types.Request | None = None
    preference: int = -1
    priority: int = -1
    deadline_ns: int = -1
    duration_ns: int = -1
    loop_timeout_ns: int = -1
    measure_timing: bool = False
    model_cache: int = 0
    data_cache: int = 0
    token: bytes = b""
    hints: tuple[types.TokenValuePair, ...] = ()
    extensions: tuple[types.ExtensionNameAndPrefix, ...] = ()
    memory_tokens: tuple[int, ...] = ()
    dimensions: tuple[int, ...] = ()
    input_roles: tuple[types.BufferRole, ...] = ()
    output_roles: tuple[types.BufferRole, ...] = ()


class ExecutedOperations(Wire, frozen=True):
    """Types of operations that a device has executed, sorted; with an IF or WHILE those of all its graphs."""

    device: str
    operations: tuple[int, ...]


class AppProcess(Wire, frozen=True):
    """Who uses the runtime, as far as vendor extensions depend on it (FW-EXT).

    binary: path of the executable. package: of an app, else empty. is_system_app, on_vendor_image, on_product_image: of
    an app. allowlist: lines of /vendor/etc/nnapi_extensions_app_allowlist. allows_product: whether
    ro.nnapi.extensions.deny_on_product is empty.
    """

    binary: str
    package: str = ""
    is_system_app: bool = False
    on_vendor_image: bool = False
    on_product_image: bool = False
    allowlist: tuple[str, ...] = ()
    allows_product: bool = True


class RuntimeControl(Interface):
    """Steers a runtime under test. Objects of the API made before a change of drivers are dead."""

    @method()
    def set_drivers(self, drivers: tuple[DriverScript, ...]) -> None:
        """Let these be the registered drivers, in this order, in place of those it has beside its CPU."""
        raise refuse("RuntimeControl.setDrivers")

    @method()
    def reset(self) -> None:
        """Return to the drivers, properties and process that it started with; every object of the API is freed."""
        raise refuse("RuntimeControl.reset")

    @method()
    def driver_calls(self, driver: str) -> tuple[DriverCall, ...]:
        """What a scripted driver was asked since set_drivers, in order."""
        raise refuse("RuntimeControl.driverCalls")

    @method()
    def release(self, driver: str) -> None:
        """Let go what a Misbehaviour ("blocks", "late", "held") holds in a scripted driver, now and in future."""
        raise refuse("RuntimeControl.release")

    @method()
    def revive(self, driver: str) -> None:
        """Start the process of a scripted driver that has died."""
        raise refuse("RuntimeControl.revive")

    @method()
    def set_property(self, name: str, value: str) -> None:
        """Set a system property, such as debug.nn.partition; empty for its default."""
        raise refuse("RuntimeControl.setProperty")

    @method()
    def set_process(self, process: AppProcess) -> None:
        """Say who the app is from here on."""
        raise refuse("RuntimeControl.setProcess")

    @method()
    def executed_operations(self) -> tuple[ExecutedOperations, ...]:
        """What each device, the CPU among them, has executed with success since this was asked last.

        It begins anew where the drivers change. Of executions with fences those count whose event was waited for.
        """
        raise refuse("RuntimeControl.executedOperations")

    @method()
    def live_objects(self) -> int:
        """How many objects of the API have been made and not freed."""
        raise refuse("RuntimeControl.liveObjects")
