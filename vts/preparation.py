"""Preparation: the callback is told exactly once, every legal argument is taken, prepared models live side by side."""

from __future__ import annotations

from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours, Group, Scope
from npu_conformance.harness.pools import Pool
from npu_conformance.harness.preparation import NO_DEADLINE, NO_TOKEN, PreparationRecorder
from npu_conformance.harness.trial import Trial
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts import addition
from npu_conformance.vts.execution import execute

cases = Behaviours("vts.preparation", group=Group.EXECUTION)

_POOL, _OUTPUT = 64, 32


@cases.case("callback.once", "NNHAL-PREPARE-003", "NNHAL-PREPARE-005", "NNHAL-PREPARE-007", scope=Scope.SMOKE)
def callback_once(trial: Trial) -> None:
    """A preparation that is accepted notifies its callback once, and not again while the device goes on."""
    recorder = PreparationRecorder()
    preparation = trial.prepare(addition.model(), callback=recorder)
    checks.status(preparation.launch_status, {ErrorStatus.NONE}, "prepareModel of a valid model, returned")
    _told_once(trial, recorder)
    has_model = preparation.prepared_model is not None
    checks.equal(has_model, preparation.status == ErrorStatus.NONE, "a prepared model comes with status NONE only")


@cases.case("callback.once_when_refused", "NNHAL-PREPARE-002", "NNHAL-PREPARE-005")
def callback_once_when_refused(trial: Trial) -> None:
    """A preparation that is refused notifies its callback once, too."""
    recorder = PreparationRecorder()
    trial.prepare(Model(main=Subgraph((), (), (), ())), callback=recorder)
    _told_once(trial, recorder)


@cases.case("callback.null", "NNHAL-PREPARE-022")
def callback_null(trial: Trial) -> None:
    """A null callback is refused with INVALID_ARGUMENT, and the device lives on."""

    def call() -> None:
        trial.device.prepare_model(
            addition.model(), ExecutionPreference.FAST_SINGLE_ANSWER, Priority.MEDIUM, NO_DEADLINE,
            (), (), NO_TOKEN, None,
        )  # fmt: skip

    checks.raises_status(call, {ErrorStatus.INVALID_ARGUMENT}, "prepareModel with a null callback")


@cases.case("arguments.preferences", "NNHAL-PREPARE-003", since=Version.V1_1)
def preferences(trial: Trial) -> None:
    """Every execution preference is taken, and the model computes the same."""
    for preference in ExecutionPreference:
        with trial.configuration(preference.name.lower()):
            _prepared_adds(trial, preference=preference)


@cases.case("arguments.priorities", "NNHAL-PREPARE-011", since=Version.V1_3)
def priorities(trial: Trial) -> None:
    """Every priority is taken, and the model computes the same."""
    for priority in Priority:
        with trial.configuration(priority.name.lower()):
            _prepared_adds(trial, priority=priority)


@cases.case("models.side_by_side", "NNHAL-PREPARE-013")
def side_by_side(trial: Trial) -> None:
    """Two prepared models of one device are executed in turn, each with its own constant."""
    constants = ((1.0, 2.0), (-8.0, 0.5))
    models = [
        addition.prepared(trial, addition.model_with_constant(_holding(trial, values).memory)) for values in constants
    ]
    pool = trial.pool(_POOL)
    for _ in range(2):
        for prepared_model, (first, second) in zip(models, constants, strict=True):
            found = _added(trial, prepared_model, pool, inputs=1)
            checks.equal(found, (addition.A[0] + first, addition.A[1] + second), "sum with the model's own constant")


@cases.case("executions.fresh_results", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002")
def fresh_results(trial: Trial) -> None:
    """Executions of one prepared model with other inputs give other results: nothing of the last one is left."""
    prepared_model, pool = addition.prepared(trial, addition.model()), trial.pool(_POOL)
    for values in ((1.0, 2.0), (-4.0, 0.25), (0.0, 0.0)):
        found = _added(trial, prepared_model, pool, second=values)
        expected = (addition.A[0] + values[0], addition.A[1] + values[1])
        checks.equal(found, expected, f"sum of {addition.A} and {values}")


def _told_once(trial: Trial, recorder: PreparationRecorder) -> None:
    # A further round trip of the same connection brings whatever the device has sent before.
    trial.supported_operations(addition.model())
    trial.subject.wait_until(lambda: len(recorder.answers) > 1, 0.0)
    checks.equal(len(recorder.answers), 1, "number of notifications of one preparation")


def _prepared_adds(
    trial: Trial, *, preference: int = ExecutionPreference.FAST_SINGLE_ANSWER, priority: int = Priority.MEDIUM
) -> None:
    addition.prepared(trial, addition.model())
    preparation = trial.prepare(addition.model(), preference=preference, priority=priority)
    checks.status(preparation.status, {ErrorStatus.NONE}, "prepareModel of a supported model, notified")
    if preparation.prepared_model is None:
        checks.fail("prepareModel of a supported model, notified", "a prepared model", "null")
    checks.equal(_added(trial, preparation.prepared_model, trial.pool(_POOL)), addition.SUM, "sum")


def _holding(trial: Trial, values: tuple[float, float]) -> Pool:
    pool = trial.pool(addition.SIZE)
    pool.write(0, addition.packed(values))
    return pool


def _added(
    trial: Trial,
    prepared_model: PreparedModel,
    pool: Pool,
    *,
    inputs: int = 2,
    second: tuple[float, float] = addition.B,
) -> tuple[float, float]:
    pool.write(0, addition.packed(addition.A) + bytes(8) + addition.packed(second))
    arguments = tuple(RequestArgument(location=DataLocation(0, at, addition.SIZE)) for at in (0, 16))
    output = RequestArgument(location=DataLocation(0, _OUTPUT, addition.SIZE))
    request = Request(arguments[:inputs], (output,), (RequestMemoryPool(pool=pool.memory),))
    execution = execute(trial, prepared_model, request, measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution")
    return addition.unpacked(bytes(pool.read(_OUTPUT, addition.SIZE)))
