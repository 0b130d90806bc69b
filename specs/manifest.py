"""A plug-in's manifest: who it is, what it has, and what the harness may expect of it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.problems import problems
from npu_conformance.specs.versions import Version

Line = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]+$(?!\n)", max_length=200)]
"""Text that a terminal only shows."""
Patience = Annotated[float, Meta(gt=0, le=3600)]
RESET_SECONDS = 120.0
Scale = Annotated[float, Meta(gt=0, le=1000)]
InterfaceName = Literal[
    "device", "scheduling", "workload", "scheduling_control", "manager", "manager_control", "runtime", "runtime_control"
]


class Claim(Document, frozen=True):
    """Operations a vendor says it supports: refusing a model inside the claims is a failure, not `not-supported`.

    types: those that all tensors of an operation have to be among, TENSOR_INT32 constants left aside. ranks: of the
    first input. max_elements: of any tensor. known_sizes: true for models alone whose tensors, outputs too, have their
    sizes when a model is prepared. Each list left empty means all. docs/claims.md has examples.
    """

    operations: tuple[str, ...]
    types: tuple[str, ...] = ()
    since: Version = Version.V1_0
    ranks: tuple[int, ...] = ()
    max_elements: Annotated[int, Meta(gt=0)] | None = None
    known_sizes: bool = False


class Deadlines(Document, frozen=True):
    """Seconds after which a call counts as HANG, before time_scale: at most an hour, or no hang would ever be found."""

    prepare: Patience = 10.0
    execute: Patience = 5.0
    call: Patience = 5.0
    start: Patience = 30.0


class InferenceTool(Document, frozen=True):
    """AOSP's run-test-inference for a vendor without a Workload interface; the harness runs it.

    command: words, to which `--job-priority N` and `--original-uid M` are added; `{uid}` in a word becomes the uid to
    run as. Exit code 0 after success only. uid: the one it always runs as; null where the command has `{uid}`. Ignored
    where the manifest came from a driver in another process: --inference-tool is for that.
    """

    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    uid: int | None = None


class Manifest(Document, frozen=True):
    """What a plug-in says of itself; `npu-conformance check` prints it."""

    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_.-]*$(?!\n)", max_length=64)]
    vendor: Line
    version: Line
    interfaces: tuple[InterfaceName, ...] = ("device",)
    hal_version: Version = Version.FL8
    feature_level: Version = Version.FL8
    """Of the NNAPI runtime; 1.0 to 1.3 stand for the feature levels 1 to 4."""
    checks_handles: bool = False
    """The NNAPI runtime's promise: handles that were freed, or are of another kind, give BAD_DATA."""
    exact_result_codes: bool = True
    """Whether misuse gives the result codes of AOSP's runtime. false: another failure is a quality warning, as the
    header allows any code (FW-API-008)."""
    instance: str = ""
    """HIDL's instance name, `vendor-device` (NNHAL-QUERY-014)."""
    time_scale: Scale = 1.0
    """How much slower than a phone: deadlines are multiplied by it."""
    deadlines: Deadlines = Deadlines()
    max_instances: Annotated[int, Meta(ge=1)] = 64
    """How many processes of the harness may use it at once, each with a subject of its own: 1 for a single board."""
    concurrent_calls: Annotated[int, Meta(ge=1)] = 1
    """How many calls may be outstanding at once; 1: one after the other, and what needs several is not applicable."""
    restart: Literal["fork", "spawn"] = "fork"
    """fork: a new host process is forked from a parent that has imported the plug-in; spawn: a fresh interpreter."""
    memory_limit: Annotated[int, Meta(gt=0, le=1 << 60)] = 8 << 30
    """Bytes of private memory a host process may take before it gets MemoryError."""
    memory_transports: tuple[Literal["path", "descriptor", "message"], ...] = ("path", "descriptor", "message")
    steady_latency: bool = False
    """The driver's promise: an inference takes at most half as long again while models are prepared (ML-CRS-009), and
    whatever came before it (ML-LAT-006). false: more is a quality warning."""
    measured_times: bool = False
    """The driver's promise: the times that it reports are measured on this machine, so that none is longer than its
    call. false: they may be those of a device that is simulated, and what does not fit is a quality warning."""
    reset_command: tuple[str, ...] = ()
    """What brings the device back after a crash or a hang (`adb reboot`, a power switch); the harness runs it, then
    waits until the driver answers. Ignored where the manifest came from a driver in another process: --reset-command
    is for that."""
    reset_seconds: Patience = RESET_SECONDS
    """How long the command may take at most."""
    options: dict[str, str] = field(default_factory=dict)
    """Option names with what they mean; `--plugin-option NAME=VALUE`."""
    virtual_clock: bool = False
    """True where manager_control and scheduling_control, as far as there are such, can advance the clock."""
    npu_profile: Literal["aosp", "page", "cuttlefish"] = "aosp"
    """page: goes beyond AOSP's scheduling HAL as the public page does, where the debounce time is set with the callback
    and configs have bounds of their own (NPU-HAL-028, -036). cuttlefish: as that does, work of an app for itself has
    original uid -1 (NPU-HAL-013)."""
    npu_checkpoint_ms: Annotated[int, Meta(ge=1)] | None = None
    """The scheduling HAL's promise: at most so long after it was requested, or became stronger by a config, work has
    the NPU that weaker work held, also in the middle of an inference; what was interrupted goes on where it stopped,
    and a pause that lasts the debounce time is told. null: a best effort."""
    npu_schedules_executions: bool = False
    """True where executions of the device's prepared models are work of the scheduling HAL: refused without direct
    access (NPU-HAL-011), ordered by the priorities of their uids, and told."""
    inference_tool: InferenceTool | None = None
    constants: dict[str, int] = field(default_factory=dict)
    """Constants that differ from the contract's (NPU_MODEL_PRIORITY_OPPORTUNISTIC, DEBOUNCE_DURATION_MS), and
    NPU_DEFAULT_POLICY: the number of the policy after the start, where that is configured (NPU-POL-001)."""
    claims: tuple[Claim, ...] = ()


def require_valid(manifest: Manifest) -> None:
    """Raise ValueError for fields that break their rules, each with its path: Python's own calls check none of them."""
    try:
        values = msgspec.to_builtins(manifest)
        msgspec.convert(values, Manifest)
    except msgspec.ValidationError:
        raise ValueError(problems(values, Manifest)) from None
    except TypeError as error:  # an object that no document can have
        raise ValueError(str(error)) from None


class _ClaimFile(Document, frozen=True):
    claims: tuple[Claim, ...]


def _is_object(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.read_bytes().lstrip().startswith(b"{")
    return False


def read_claims(path: Path) -> tuple[Claim, ...]:
    """The claims of a file: a list, as `npu-conformance check --write-claims` writes it, or an object with `claims`.

    Raises DocumentError.
    """
    return documents.read(path, _ClaimFile).claims if _is_object(path) else documents.read(path, tuple[Claim, ...])
