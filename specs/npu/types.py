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
DUMP_PERMISSION = "android.permission.DUMP"
ATTRIBUTION_PERMISSION = "android.permission.ATTRIBUTE_WORK_TO_OTHER_APPS"
SERVICE = "npu"
"""Name under which Context.getSystemService has the manager."""
BLOCKING_SDK = 37
"""Target API from which an app has to declare the feature to reach the NPU directly (NPU-ACC-007)."""
ROOT_UID, SYSTEM_UID, SHELL_UID = 0, 1000, 2000
UNLOAD_TIMEOUT_NS = 30_000_000_000
"""How long a client may leave an unload request unanswered, unless ManagerControl.set_unload_timeout says otherwise."""


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


class Importance(enum.IntEnum):
    """ActivityManager's importance of a uid: its scheduling priority, number for number (NPU-PRI-002)."""

    FOREGROUND = 100
    FOREGROUND_SERVICE = 125
    VISIBLE = 200
    PERCEPTIBLE = 230
    SERVICE = 300
    TOP_SLEEPING = 325
    CANT_SAVE_STATE = 350
    CACHED = 400
    GONE = 1000


class ThermalStatus(enum.IntEnum):
    """Thermal status of android.os.PowerManager."""

    NONE = 0
    LIGHT = 1
    MODERATE = 2
    SEVERE = 3
    CRITICAL = 4
    EMERGENCY = 5
    SHUTDOWN = 6


class MemoryPressure(enum.IntEnum):
    """Memory pressure, numbered as the trim levels of running apps."""

    NONE = 0
    MODERATE = 5
    LOW = 10
    CRITICAL = 15


class Flag(enum.StrEnum):
    """What a device's configuration switches, by AOSP's names of the flags."""

    ENABLED = "npumanager_enabled"
    """The service exists (NPU-ACC-003). On by default."""
    BLOCK_MISSING_FEATURE = "npumanager_block_missing_feature"
    """Undeclared apps that target BLOCKING_SDK are denied direct access (NPU-ACC-007, -010). On by default."""
    UNLOAD_REASON = "request_unload_reason"
    """Unload requests carry their reason (NPU-LIF-018). On by default."""


class UnloadReason(enum.IntEnum):
    """Reason of onRequestUnloadModel in its two-argument form. The public page names no values: these are ours."""

    FOREGROUND_PREEMPTION = 0
    PRIORITY_CHANGE = 1
    THERMAL = 2
    MEMORY = 3
    POLICY_CHANGE = 4
    ROTATION = 5
    NO_GRANT = 6
    """The model was loaded without a grant and does not fit (NPU-LIF-026)."""


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


class AppSnapshot(Wire, frozen=True):
    """A uid with a scheduling config. work: idle, requested, running or paused; completed: works that ended so.

    Work is what the scheduling HAL reports: debounced, so that a burst of inferences counts as one.
    """

    uid: int
    package: str
    priority: int
    has_direct_access: bool
    work: str = "idle"
    completed: int = 0


class ModelSnapshot(Wire, frozen=True):
    """A live request. state: in a few words, the implementation's own. weight: of the budget, 0 without one."""

    uid: int
    pid: int
    id: int
    size: int
    priority: int
    state: str
    weight: int = 0


class ManagerSnapshot(Wire, frozen=True):
    """What a manager knows at one moment. policy: Policy. used, ceiling: of the budget, 0 where there is none.

    ceiling: the maximum, or what pressure leaves of it.
    """

    policy: int
    used: int
    ceiling: int
    apps: tuple[AppSnapshot, ...]
    models: tuple[ModelSnapshot, ...]


class ShellResult(Wire, frozen=True):
    """What `cmd npu ...` leaves behind. exit_code: 0 for success."""

    exit_code: int
    output: str = ""


class Atom(Wire, frozen=True):
    """One record of the metrics log. name: AOSP's, e.g. NpuWorkEventOccurred; values: its fields, enums as numbers.

    Enums of the API are logged plus one, 0 is unknown; a bool is 0 or 1 (NPU-OBS-006).
    """

    name: str
    values: dict[str, int]


_REQUEST = {"uid": "of the app", "id": "of the request"}
ATOMS: dict[str, dict[str, str]] = {
    "NpuWorkEventOccurred": {
        "type": "1 requested, 2 started, 3 ended",
        "reason": "of a start StartReason plus one, of an end EndReason plus three, else 0",
        **dict.fromkeys(
            ("uid", "original_uid", "debug_pid", "job_priority", "effective_priority", "timestamp_ms", "device_number"),
            "of the WorkInfo",
        ),
    },
    "NpuModelLoadRequested": {
        **_REQUEST,
        "size": "ModelSize plus one",
        "priority": "1 normal, 2 background, 3 opportunistic",
    },
    "NpuModelLoadPolicyResponded": {**_REQUEST, "status": "LoadStatus plus one"},
    "NpuModelLoadRequestCancelled": _REQUEST,
    "NpuModelLoadStateChanged": {**_REQUEST, "state": "1 in memory, 2 out of it again"},
    "NpuAppBlocked": {"uid": "of the app that is denied direct access; once for each"},
}
"""The records of the metrics log (Atom) with their fields; a number that the API does not have is logged as 0."""
ATOMS_DUE = {
    "NpuWorkEventOccurred": "for each event of the scheduling HAL",
    "NpuModelLoadRequested": "when a request is taken",
    "NpuModelLoadPolicyResponded": "for each onCanLoadModel",
    "NpuModelLoadRequestCancelled": "for each request that is cancelled, by its app or by the manager",
    "NpuModelLoadStateChanged": "when a model is notified as loaded, and when that request ends, however it does",
    "NpuAppBlocked": "when a config without direct access is first made",
}
"""When each of them is due (NPU-OBS-006, -007)."""
