"""Types of android.hardware.npu (scheduling HAL, v1) and of android.npumanager. Since Android 17.

Names that differ between the public page and AOSP are one type with an alias: NpuUuid is Uuid, appPriority is priority.
"""

from __future__ import annotations

import enum

from msgspec import field

from npu_conformance.specs.wire_types import Wire

MIN_PRIORITY = 0
MAX_PRIORITY = 1000
DEBOUNCE_DURATION_MS = 50
"""ISchedulingCallback.DEBOUNCE_DURATION_MS; the public page makes it a parameter of the registration."""
KEY_MAX_BUDGET = "maxBudget"
KEY_MODEL_SIZE_WEIGHTS = "modelSizeWeights"
PERMISSION = "android.permission.ACCESS_NPU_MODEL_MANAGER_API"
FEATURE = "android.hardware.npu"


class StartReason(enum.IntEnum):
    """Why work started (NPU_START_REASON_*)."""

    INITIAL = 0
    RESUMED = 1


class EndReason(enum.IntEnum):
    """Why work ended (NPU_END_REASON_*); AOSP's numbers, not the order of the public page."""

    CANCELLED_USER = 0
    CANCELLED_SYSTEM = 1
    PAUSED = 2
    FAILED = 3
    COMPLETED = 4


class LoadStatus(enum.IntEnum):
    """NPU_MODEL_LOAD_STATUS_*: only the first authorises loading (NPU-LIF-006)."""

    CAN_LOAD_NOW = 0
    WAIT_FOR_UNLOAD = 1
    NOT_PRIORITIZED = 2


class CompletionStatus(enum.IntEnum):
    """NPU_MODEL_LOAD_REQUEST_STATUS_*: how a request ended. One number space with LoadStatus."""

    CANCELLED = 3
    COMPLETE = 4


class ModelSize(enum.IntEnum):
    """NPU_MODEL_SIZE_*."""

    LESS_THAN_1GB = 0
    BETWEEN_1GB_AND_2GB = 1
    GREATER_THAN_2G = 2


class ModelPriority(enum.IntEnum):
    """NPU_MODEL_PRIORITY_*: larger is weaker. OPPORTUNISTIC has no published number; a manifest may change it."""

    NORMAL = 0
    BACKGROUND = 1000
    OPPORTUNISTIC = 2000


class Policy(enum.IntEnum):
    """NPU_MODEL_POLICY_*."""

    STATUS_QUO = 0
    TURN_TAKING = 1
    BUDGET = 2


class UnloadReason(enum.IntEnum):
    """Reason of onRequestUnloadModel in its two-argument form. The public page names no values: these are ours."""

    FOREGROUND_PREEMPTION = 0
    PRIORITY_CHANGE = 1
    THERMAL = 2
    MEMORY = 3
    POLICY_CHANGE = 4
    ROTATION = 5


class SchedulingConfig(Wire, frozen=True):
    """Priority and rights of one uid. priority 0 (strongest) to 1000; min and max only in the public page's profile."""

    uid: int
    priority: int
    has_direct_access: bool
    can_attribute_other_uid: bool
    min_priority: int = MIN_PRIORITY
    max_priority: int = MAX_PRIORITY


class Uuid(Wire, frozen=True):
    """16 bytes that name one effort of several works (the public page's NpuUuid)."""

    uuid: bytes


NpuUuid = Uuid


class WorkInfo(Wire, frozen=True):
    """One work event. id rises with every event; timestamp_ms on CLOCK_MONOTONIC; effective priority 0 to 2000."""

    id: int
    uid: int
    original_uid: int
    job_priority: int
    effective_priority: int
    timestamp_ms: int
    device_number: int
    debug_pid: int = 0
    debug_feature_id: str | None = None
    group_id: Uuid | None = None


class ModelLoadRequest(Wire, frozen=True):
    """What a client wants to load. id: any 32-bit integer, unique for the uid while the request lives."""

    id: int
    size: int = ModelSize.LESS_THAN_1GB
    priority: int = ModelPriority.NORMAL


class PolicyParameters(Wire, frozen=True):
    """The PersistableBundle of setPolicy: KEY_MAX_BUDGET, and KEY_MODEL_SIZE_WEIGHTS by decimal size class."""

    max_budget: int | None = None
    model_size_weights: dict[str, int] = field(default_factory=dict)
