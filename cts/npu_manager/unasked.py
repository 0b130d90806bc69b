"""Room that becomes free though nobody was asked for it, while several wait for unloads that are under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from npu_conformance.cts.lib.manager_client import GRANT, WAIT
from npu_conformance.cts.lib.manager_fixture import MEDIUM, SMALL, UNLOAD, ManagerFixture, RequestedModel
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import Importance, ModelSize, PolicyParameters

cases = CaseGroup("cts.npu_manager.unasked", interface="manager", group=Group.MANAGER_POLICIES)

_WEIGHTS = {SMALL: 1, MEDIUM: 2}
_STRONG, _MIDDLE, _WEAK = Importance.FOREGROUND, Importance.FOREGROUND_SERVICE, Importance.VISIBLE
_LEAVES, _IS_ASKED = Importance.SERVICE, Importance.CACHED
"""Of the apps that hold the budget the weaker one is asked to unload, and the other goes by itself."""


class _Scene(NamedTuple):
    """freed: the models that go. waiting: importance and size of those that wait, as they came; served: how many get
    a grant of what was freed, the strongest first."""

    freed: tuple[ModelSize, ...]
    waiting: tuple[tuple[int, ModelSize], ...]
    served: int


_SCENES = (
    _Scene((SMALL,), ((_WEAK, SMALL), (_STRONG, SMALL)), 1),
    _Scene((SMALL,), ((_STRONG, SMALL), (_WEAK, SMALL)), 1),
    _Scene((MEDIUM,), ((_WEAK, SMALL), (_STRONG, MEDIUM)), 1),
    _Scene((SMALL, SMALL), ((_MIDDLE, SMALL), (_WEAK, SMALL), (_STRONG, SMALL)), 2),
    _Scene((SMALL,) * 4, ((_WEAK, SMALL), (_STRONG, SMALL), (_MIDDLE, MEDIUM)), 3),
)
_Way = Callable[[Sequence[RequestedModel]], None]


def _unload(models: Sequence[RequestedModel]) -> None:
    for model in models:
        model.unload()


def _cancel(models: Sequence[RequestedModel]) -> None:
    for model in models:
        model.cancel()


def _die(models: Sequence[RequestedModel]) -> None:
    models[0].app.dies()


def _be_removed(models: Sequence[RequestedModel]) -> None:
    app = models[0].app
    app.fixture.note(f"uid {app.uid} is removed")
    app.client.alive = False
    app.fixture.control.remove_app(app.uid)


_WAYS: dict[str, _Way] = {"unloaded": _unload, "cancelled": _cancel, "death": _die, "removed": _be_removed}


def _declare(name: str, leave: _Way) -> None:
    @cases.case(name, "NPU-POL-021", "NPU-LIF-007", "NPU-LIF-019" if leave is _die else "NPU-LIF-012")
    def unasked(context: CaseContext) -> None:
        """Of several that wait the strongest get room that one frees by itself, and all what was asked for."""
        for scene in _SCENES:
            _play(context, scene, leave)


def _play(context: CaseContext, scene: _Scene, leave: _Way) -> None:
    sizes = [size for _, size in scene.waiting]
    room = sum(_WEIGHTS[size] for size in (*scene.freed, *sizes))
    fixture = ManagerFixture(context, parameters=PolicyParameters(room))
    leaving, asked = fixture.app(_LEAVES), fixture.app(_IS_ASKED)
    freed, held = [leaving.loads(size) for size in scene.freed], [asked.loads(size) for size in sizes]
    waiting = {importance: fixture.app(importance).asks(size) for importance, size in scene.waiting}
    for model in waiting.values():
        model.receives(WAIT)
    for model in freed:
        model.receives(GRANT)
    leave(freed)
    for model, served in _by_strength(waiting, scene.served):
        model.receives(WAIT, *(GRANT,) * served)
    for model in held:
        model.receives(GRANT, UNLOAD)
        model.unload()
    for model in waiting.values():
        model.receives(WAIT, GRANT)


def _by_strength(waiting: dict[int, RequestedModel], served: int) -> Iterator[tuple[RequestedModel, bool]]:
    for place, importance in enumerate(sorted(waiting)):
        yield waiting[importance], place < served


for _name, _leave in _WAYS.items():
    _declare(_name, _leave)
