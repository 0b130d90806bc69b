"""Puts the reference NPU Manager together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager.apps import InstalledApps
from npu_conformance.reference.manager.control import Control
from npu_conformance.reference.manager.delivery import Delivery, VirtualDelivery
from npu_conformance.reference.manager.manager import NpuManager
from npu_conformance.reference.manager.real_delivery import RealDelivery
from npu_conformance.reference.npu_buffers import heaps
from npu_conformance.reference.npu_buffers.allocator import Allocators
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.types import ModelPriority
from npu_conformance.specs.plugin import Context


def opportunistic(options: Mapping[str, str]) -> int:
    """The number of NPU_MODEL_PRIORITY_OPPORTUNISTIC, by the option of this name. Raises ValueError if it is none."""
    text = options.get("opportunistic", str(int(ModelPriority.OPPORTUNISTIC)))
    try:
        number = int(text)
    except ValueError:
        number = ModelPriority.NORMAL
    if number in (ModelPriority.NORMAL, ModelPriority.BACKGROUND) or not -(2**31) <= number < 2**31:
        raise ValueError(f"option opportunistic: expected a 32-bit integer other than 0 and 1000, found {text!r}")
    return number


def create(
    context: Context,
    scheduling: Scheduling | None = None,
    arrived: Callable[[], None] | None = None,
    *,
    real_time: bool = False,
    declared_only: bool = False,
) -> tuple[NpuManager, Control]:
    """Make a manager and its control.

    scheduling: the device's HAL. arrived: waits until its events are here; None where they come at once.
    real_time: messages leave at once, each client's in a thread of its own; else they wait for the context's clock
    where that is virtual, or for a new one. declared_only: see Priorities.
    """
    clock = context.clock if isinstance(context.clock, VirtualClock) else VirtualClock()
    delivery: Delivery = RealDelivery() if real_time else VirtualDelivery(clock)
    room = heaps.parse(context.options.get("heaps", heaps.DEFAULT_HEAPS))
    allocators = Allocators(delivery, room, context.exports, context.files)
    manager = NpuManager(
        delivery,
        InstalledApps(),
        context.caller,
        allocators,
        declared_only=declared_only,
        opportunistic=opportunistic(context.options),
    )
    context.on_hang_up(manager.connection_closed)

    def advance(duration_ns: int) -> None:
        clock.advance(duration_ns)
        if arrived is not None:
            arrived()
            clock.advance(0)  # for the manager's answers to the events

    return manager, Control(manager, scheduling, None if real_time else advance)
