"""The three mechanisms of faults: boundaries, source edits and hostile hosts; and the children that they run in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from edited_source import applied

from npu_conformance.faults import code_swap, kill_matrix, registry, source_edits
from npu_conformance.faults.boundary import FaultyBuffer, FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.guard import Life
from npu_conformance.faults.source_edits import EditError, SourceEdit
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.reference.device import quantization
from npu_conformance.specs.errors import DeadObject, ServiceError
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.plugin import Plugin

MODULE = "reference.device.quantization"
ROUND = SourceEdit(MODULE, "round_half_away", "numpy.trunc(values", "numpy.floor(values")


class Recording:
    """Stands for the reference behind a boundary."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append((name, arguments))


def arguments_of(interface: type, name: str) -> tuple[Any, ...]:
    """An argument for each parameter; None for the last one, which may be a callback."""
    count = len(describe(interface)[name].parameters)
    return (*range(count - 1), None) if count else ()


@pytest.mark.parametrize("name", describe(hal.Device))
def test_a_boundary_forwards_every_method_of_a_device(name: str) -> None:
    inner, arguments = Recording(), arguments_of(hal.Device, name)
    getattr(FaultyDevice(inner), name)(*arguments)
    assert inner.calls == [(name, arguments)]


@pytest.mark.parametrize("name", describe(hal.PreparedModel))
def test_a_boundary_forwards_every_method_of_a_prepared_model(name: str) -> None:
    inner, arguments = Recording(), arguments_of(hal.PreparedModel, name)
    getattr(FaultyPreparedModel(inner), name)(*arguments)
    assert inner.calls == [(name, arguments)]


class Answering:
    """Stands for the reference, which calls the callback that comes last at once, or gives the answer back."""

    def __init__(self, *answer: Any) -> None:
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: arguments[-1].notify(*self.answer)

    def allocate(self, desc: Any, prepared_models: tuple[Any, ...], *roles: Any) -> Any:
        return hal.DeviceBuffer(hal.Buffer(), prepared_models.index(self.answer[1]) + 1)


def test_callbacks_pass_the_boundary_and_models_come_back_as_the_references_own() -> None:
    given: list[Any] = []
    callback = SimpleNamespace(notify=lambda *answer: given.append(answer))
    own = hal.PreparedModel()
    device = FaultyDevice(Answering(0, own))
    device.prepare_model(*range(7), callback)  # type: ignore[call-arg]
    ((status, model),) = given
    assert (status, type(model), model.inner) == (0, FaultyPreparedModel, own)
    made = device.allocate(types.BufferDesc(()), (None, model), (), ())
    assert (type(made.buffer), made.token) == (FaultyBuffer, 2)


def test_answers_of_executions_pass_the_boundary() -> None:
    class Model(FaultyPreparedModel):
        def executed(self, callback: hal.ExecutionCallback, *answer: Any) -> None:
            super().executed(callback, *answer, "passed")

    given: list[Any] = []
    callback = SimpleNamespace(notify=lambda *answer: given.append(answer))
    Model(Answering(3)).execute(*range(4), callback)  # type: ignore[call-arg]
    assert given == [(3, "passed")]


def test_an_exception_of_an_implementation_is_its_death_and_an_error_of_the_interface_stays_one() -> None:
    class Broken(hal.Device):
        def get_type(self) -> int:
            raise ZeroDivisionError

        def get_status(self) -> int:
            raise ServiceError(2)

    device = Life().guard(hal.Device, Broken())
    assert device is not None
    with pytest.raises(ServiceError):
        device.get_status()
    with pytest.raises(DeadObject, match="ZeroDivisionError"):
        device.get_type()


def test_an_edit_changes_a_function_for_all_who_imported_it_and_is_undone() -> None:
    rounded = quantization.round_half_away
    values = numpy.array([-1.2])
    with applied([ROUND]):
        assert rounded(values) == -2
        assert quantization.round_half_away is rounded
    assert rounded(values) == -1


def test_several_edits_of_one_function_are_applied_together() -> None:
    sign = SourceEdit(MODULE, "round_half_away", "return rounded", "return -rounded")
    with applied([ROUND, sign]):
        assert quantization.round_half_away(numpy.array([-1.2])) == 2


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (SourceEdit(MODULE, "round_half_away", "numpy.rint", "x"), "occurs 0 times"),
        (SourceEdit(MODULE, "round_half_away", "values", "x"), "expected once"),
        (SourceEdit(MODULE, "no_such_function", "values", "x"), "no such function"),
        (SourceEdit("reference.device.no_such_module", "f", "a", "b"), "No module named"),
        (SourceEdit(MODULE, "round_half_away", "return rounded", "return ("), "was never closed"),
        (SourceEdit(MODULE, "round_half_away", "return rounded", "return nmpy.rint(1)"), "there is no name nmpy"),
    ],
)
def test_an_edit_that_does_not_fit_is_a_clear_error(edit: SourceEdit, message: str) -> None:
    with pytest.raises(EditError, match=message):
        source_edits.prepare([edit])


def test_an_edit_forgets_what_cached_functions_remember() -> None:
    from npu_conformance.specs.neuralnetworks.validate_operations import match_types

    match_types(0, (), (), next(iter(describe(hal.Device).values())).mark.until)
    assert match_types.cache_info().currsize > 0
    edit = SourceEdit("specs.neuralnetworks.validate_operations", "_since", "return max(", "return min(")
    with applied([edit]):
        assert match_types.cache_info().currsize == 0


def test_a_swap_of_code_with_other_closures_is_refused_and_leaves_all_as_it_was() -> None:
    def outer(value: int) -> Any:
        return lambda: value

    def first() -> int:
        return 1

    def second() -> int:
        return 2

    before = first.__code__
    with pytest.raises(code_swap.SwapError):
        code_swap.swap([(first, second.__code__), (second, outer(3).__code__)])  # type: ignore[list-item]
    assert first.__code__ is before


def test_a_case_that_is_wrong_itself_detects_nothing() -> None:
    def broken(context: CaseContext) -> None:
        raise ValueError("a bug of the case")

    fault = registry.faults()["pad-raw-zero"]
    row = kill_matrix.run_fault_against(fault, [Case("vts.queries.broken.case", broken, (), "broken")])
    assert (row.noticed, row.wrong, row.is_caught) == ((), ("vts.queries.broken.case",), False)


def test_the_plug_in_says_what_it_is_and_refuses_what_it_does_not_know() -> None:
    from npu_conformance.faults.plugin import plugin

    assert isinstance(plugin, Plugin)
    assert plugin.describe({"fault": "execute-notifies-twice"}).hal_version.value == "1.1"
    assert plugin.describe({"fault": "execute-notifies-twice", "hal": "1.0"}).hal_version.value == "1.0"
    assert plugin.describe({}).name == "reference"
    with pytest.raises(ValueError, match="no fault 'nothing'"):
        plugin.describe({"fault": "nothing"})
