"""Rows of misuse: a function, what is wrong with a call, the code that it has to return.

Each row is a case. It makes a legal scene, has the wrong calls refused in it, then makes the legal call and goes on to
the end of the scene: a refused call has no effect. Where AOSP's runtime keeps something of a refused call, the row is
*apart*: each wrong call has a scene of its own, which ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from npu_conformance.cts.lib.runtime.codes import told_as
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal import SCENES, MakeScene, Scene
from npu_conformance.harness.judge.api_handles import judge_handle
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

_BEFORE = "while the scene was made, before the call that the case is about"
_BEHIND = "after the call that the case is about"
UNEXPECTED_NULL, BAD_DATA, BAD_STATE = ResultCode.UNEXPECTED_NULL, ResultCode.BAD_DATA, ResultCode.BAD_STATE


@dataclass(frozen=True)
class Object:
    """An argument that is made when the case runs. works: checks, behind the refused call, that it is as it was."""

    make: Callable[[RuntimeApp], Any]
    works: Callable[[RuntimeApp, Any], object] | None = None


Change = Mapping[str, Any]
"""Arguments in place of the legal ones; an Object is made first."""


def misuses_of_executions(function: str, *requirements: str) -> Misuses:
    """Misuses of a function of executions."""
    return Misuses(function, *requirements, group=Group.RUNTIME_EXECUTIONS)


class Misuses:
    """The rows of one function. requirements: what all of them are evidence for, behind those of a row.

    scene: in place of the function's own.
    """

    def __init__(
        self,
        function: str,
        *requirements: str,
        group: Group = Group.RUNTIME_MODELS,
        scene: MakeScene | None = None,
        since: Version = OLDEST,
    ) -> None:
        self._function, self._requirements, self._group = function, requirements, group
        self._scene = scene or SCENES[function]
        self._since = max(since, describe(Runtime)[function].mark.since)
        self._cases: list[Case] = []

    def __iter__(self) -> Iterator[Case]:
        """The cases, in order of definition."""
        return iter(self._cases)

    def null(self, *parameters: str, since: Version = OLDEST) -> None:
        """A null pointer for each of these parameters, in a case of its own."""
        for parameter in parameters:
            self.row(f"null_{parameter}", UNEXPECTED_NULL, {parameter: null_of(self._function, parameter)}, since=since)

    def row(
        self,
        name: str,
        code: int,
        *changes: Change,
        of: str = "",
        since: Version = OLDEST,
        until: Version = NEWEST,
        scene: MakeScene | None = None,
        apart: bool = False,
        others: tuple[int, ...] = (),
    ) -> None:
        """Declare a case: each change of the legal arguments gives the code. of: the requirements it is about.

        others: codes that are as right, where nothing decides.
        """
        function = self._function
        own = ("FW-API-001",) if code == UNEXPECTED_NULL and not of else ()
        codes = (code, *others)
        run = partial(_run_apart if apart else run_row, function, codes, changes, scene or self._scene)
        self._cases.append(
            Case(
                f"cts.misuse.{function}.{name}",
                run,
                tuple(dict.fromkeys((*of.split(), *own, *self._requirements))),
                f"{function}, {name.replace('_', ' ')}: {' or '.join(map(_outcome, codes))}.",
                "runtime",
                max(since, self._since),
                until,
                self._group,
            )
        )


def _outcome(code: int) -> str:
    return "succeeds" if code == ResultCode.NO_ERROR else f"{ResultCode(code).name}, and no effect"


def null_of(function: str, parameter: str) -> Any:
    """A null pointer in the position of a parameter: a handle, a place to write to, or what may be None."""
    kind = dict(describe(Runtime)[function].parameters)[parameter]
    return {bool: False, int: NULL}.get(kind)


Codes = tuple[int, ...]
"""What a call may return; the first is what AOSP's runtime does."""


def run_row(function: str, codes: Codes, changes: tuple[Change, ...], make: MakeScene, context: CaseContext) -> None:
    """Have wrong calls refused, then make the legal one. Where the code is NO_ERROR, the changed call is the legal."""
    app = RuntimeApp(context)
    with told_as(_BEFORE):
        scene = make(app)
    objects: list[tuple[Object, Any]] = []
    answer: Any = None
    for change in changes:
        answer = _call(app, function, codes, scene, change, objects)
    with told_as(_BEHIND):
        if codes[0] != ResultCode.NO_ERROR and scene.is_legal:
            answer = app.succeed(function, **scene.arguments)
        scene.rest(answer)
        for made, value in objects:
            if made.works is not None:
                made.works(app, value)


def _run_apart(function: str, codes: Codes, changes: tuple[Change, ...], make: MakeScene, context: CaseContext) -> None:
    """Have each wrong call refused in a scene of its own."""
    app = RuntimeApp(context)
    for change in changes:
        with told_as(_BEFORE):
            scene = make(app)
        _call(app, function, codes, scene, change, [])


def _call(
    app: RuntimeApp, function: str, codes: Codes, scene: Scene, change: Change, objects: list[tuple[Object, Any]]
) -> Any:
    """Make a changed call, which has to return one of the codes; returns its answer. objects: gets those made."""
    with told_as(_BEFORE):
        changed = {name: _made(app, value, objects) for name, value in change.items()}
    arguments = {**scene.arguments, **changed}
    answer = app.refused(function, codes[0], others=codes[1:], **arguments)
    judge_handle(function, codes[0], arguments, answer)
    return answer


def _made(app: RuntimeApp, value: Any, objects: list[tuple[Object, Any]]) -> Any:
    """The argument that a change stands for."""
    if not isinstance(value, Object):
        return value
    made = value.make(app)
    objects.append((value, made))
    return made
