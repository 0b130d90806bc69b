"""The scenario of a simulation: apps and their habits, policies, and what happens to the device. Times are in ms."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from npu_conformance.specs.documents import Document, DocumentError
from npu_conformance.specs.npu.types import UNLOAD_TIMEOUT_NS, ModelSize

HOUR_MS = 3_600_000
Name = Annotated[str, Meta(min_length=1, max_length=60)]
Time = Annotated[int, Meta(ge=0, le=24 * HOUR_MS)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Priority = Annotated[int, Meta(ge=0, le=1000)]
PolicyName = Literal["status_quo", "turn_taking", "budget"]
Size = Literal["less_than_1gb", "between_1gb_and_2gb", "greater_than_2g"]


class Times(Document, frozen=True):
    """A time that is drawn anew each time, evenly."""

    least: Time
    most: Time


class Counts(Document, frozen=True):
    """A number that is drawn anew each time, evenly."""

    least: Count
    most: Count


Span = Time | Times
Number = Count | Counts


class Phase(Document, frozen=True):
    """ActivityManager's importance of an app for a while: 100 is the foreground, 1000 the weakest."""

    importance: Priority
    lasts_ms: Span = HOUR_MS


class AppGroup(Document, frozen=True):
    """Apps of one kind. Each has one model at a time, and goes round: ask, load, use, unload, ask again.

    phases: importance over time, from the first again after the last; with `shuffled` an app begins anywhere in them.
    asks_up_to: an app asks only while its importance is this or stronger, and else puts it off until then.
    start_ms: when an app asks for the first time.
    load_ms: from a grant until the model is in memory.
    bursts: uses between loading and unloading; inferences: of a burst; inference_ms: device time of each, at least 1.
    period_ms: from the start of an inference to that of the next, which never comes before its end.
    think_ms: between bursts. again_ms: from losing the model, or giving it back, until the next request.
    patience_ms: a request that has waited as long is withdrawn; null: never.
    on_unload: when it is asked to, an app unloads at once; late, after `late_ms`, working on until then; never; or it
    dies, and is back after `restart_ms` (null: it stays dead).
    """

    name: Name
    count: Annotated[int, Meta(ge=1, le=100_000)] = 1
    phases: Annotated[tuple[Phase, ...], Meta(min_length=1)] = (Phase(importance=100),)
    shuffled: bool = False
    asks_up_to: Priority = 1000
    size: Size = "less_than_1gb"
    model_priority: Annotated[int, Meta(ge=-(2**31), lt=2**31)] = 0
    start_ms: Span = 0
    load_ms: Span = 0
    bursts: Number = 1
    inferences: Number = 1
    inference_ms: Span = 10
    period_ms: Span = 0
    job_priority: Priority = 500
    device: Annotated[int, Meta(ge=0)] = 0
    think_ms: Span = 0
    again_ms: Span = 1000
    patience_ms: Span | None = None
    on_unload: Literal["at_once", "late", "never", "dies"] = "at_once"
    late_ms: Span = 1000
    restart_ms: Span | None = None


class PolicyChoice(Document, frozen=True):
    """A policy to simulate. max_budget, weights (by size class 0 to 2): only for `budget`, see PolicyParameters."""

    policy: PolicyName
    name: str = ""
    max_budget: Annotated[int, Meta(ge=1)] | None = None
    weights: dict[str, Annotated[int, Meta(ge=1)]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.name or self.policy


class Pressure(Document, frozen=True):
    """A change of the device's state. thermal: ThermalStatus; memory: MemoryPressure; null: as it was."""

    at_ms: Time
    thermal: Annotated[int, Meta(ge=0, le=6)] | None = None
    memory: Literal[0, 5, 10, 15] | None = None


class Death(Document, frozen=True):
    """A death. Of the apps of a group, which are back after their `restart_ms`; of the HAL or the manager: `back_ms`.

    With the HAL all inferences fail, and apps repeat them when it is back. With the manager all requests are lost, and
    apps, which hear nothing of it but the end of their connection, unload and ask the next one.
    """

    at_ms: Time
    who: Literal["app", "hal", "manager"]
    group: Name | None = None
    back_ms: Annotated[int, Meta(ge=1, le=24 * HOUR_MS)] = 1000


class Scenario(Document, frozen=True):
    """What is simulated, once for each policy. Everything drawn follows from the seed."""

    duration_ms: Annotated[int, Meta(ge=1, le=24 * HOUR_MS)]
    groups: Annotated[tuple[AppGroup, ...], Meta(min_length=1)]
    policies: Annotated[tuple[PolicyChoice, ...], Meta(min_length=1)] = (
        PolicyChoice(policy="status_quo"),
        PolicyChoice(policy="turn_taking"),
        PolicyChoice(policy="budget"),
    )
    pressure: tuple[Pressure, ...] = ()
    deaths: tuple[Death, ...] = ()
    seed: int = 0
    devices: Annotated[int, Meta(ge=1, le=64)] = 1
    unload_timeout_ms: Annotated[int, Meta(ge=1, le=24 * HOUR_MS)] = UNLOAD_TIMEOUT_NS // 1_000_000


def check(scenario: Scenario, document: str) -> None:
    """Raise DocumentError for what the types do not say: spans, names, devices, deaths."""
    for index, group in enumerate(scenario.groups):
        path = f"$.groups[{index}]"
        for name, value in _spans(group):
            if isinstance(value, Times | Counts) and value.least > value.most:
                raise DocumentError(document, f"{path}.{name}", f"the least, {value.least}, is more than {value.most}")
        if group.device >= scenario.devices:
            raise DocumentError(document, f"{path}.device", f"there are {scenario.devices} devices, from 0")
        if _least(group.inference_ms) < 1:
            raise DocumentError(document, f"{path}.inference_ms", "an inference takes at least 1 ms")
        if not any(map(_least, (group.again_ms, group.load_ms))):
            raise DocumentError(document, f"{path}.again_ms", "without load_ms, an app must pause before it asks again")
        if any(_least(phase.lasts_ms) < 1 for phase in group.phases):
            raise DocumentError(document, f"{path}.phases", "a phase lasts at least 1 ms")
    _check_names(document, "groups", [group.name for group in scenario.groups])
    _check_names(document, "policies", [policy.title for policy in scenario.policies])
    _check_policies(scenario, document)
    _check_deaths(scenario, document)


def _check_deaths(scenario: Scenario, document: str) -> None:
    names = [group.name for group in scenario.groups]
    for index, death in enumerate(scenario.deaths):
        path = f"$.deaths[{index}].group"
        if death.who != "app" and death.group is not None:
            raise DocumentError(document, path, "only apps are of a group")
        if death.who == "app" and death.group not in names:
            raise DocumentError(document, path, f"no group {death.group!r}; there are {', '.join(names)}")


def _check_policies(scenario: Scenario, document: str) -> None:
    for index, choice in enumerate(scenario.policies):
        if choice.policy != "budget" and (choice.weights or choice.max_budget is not None):
            raise DocumentError(document, f"$.policies[{index}]", "only the policy budget has a maximum and weights")
        for size in choice.weights.keys() - {str(int(size)) for size in ModelSize}:
            raise DocumentError(document, f"$.policies[{index}].weights", f"no size class {size!r}; there are 0, 1, 2")


def _check_names(document: str, kind: str, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise DocumentError(document, f"$.{kind}[{index}].name", f"{name!r} is named twice")


def _spans(group: AppGroup) -> list[tuple[str, object]]:
    spans = [(name, getattr(group, name)) for name in group.__struct_fields__]
    return spans + [(f"phases[{index}].lasts_ms", phase.lasts_ms) for index, phase in enumerate(group.phases)]


def _least(span: Span) -> int:
    return span.least if isinstance(span, Times) else span
