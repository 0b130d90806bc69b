"""Structural rules of models, one case a model: broken in one rule, or sound right beside the limit.

A broken model is refused with INVALID_ARGUMENT by getSupportedOperations and prepareModel. A sound one is answered by
both, whether or not the device supports it. What is expected follows from the text of the rule; what Android's own
validator leaves to the driver, or does not look at, is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness import checks
from npu_conformance.harness.cases import Case, Group
from npu_conformance.harness.trial import Trial
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.vts import structure_graphs, structure_operands, structure_subgraphs
from npu_conformance.vts.refusal import refused_at_once
from npu_conformance.vts.structure_models import SIZE, Row


def cases() -> Iterator[Case]:
    """One case a model."""
    for row in (*structure_operands.rows(), *structure_graphs.rows(), *structure_subgraphs.rows()):
        yield _case(row)


def _case(row: Row) -> Case:
    def run(trial: Trial) -> None:
        model = row.model if isinstance(row.model, Model) else row.model(trial.pool(SIZE).memory)
        if row.sound:
            answered(trial, model)
        else:
            refused_at_once(trial, model)

    verb = "accepts" if row.sound else "refuses"
    return Case(
        f"vts.structure.{row.rule}.{verb}_{row.name}", run, tuple(f"NNHAL-{name}" for name in row.requirements),
        f"MODEL.{row.rule}: a device {verb} {row.name.replace('_', ' ')}.",
        since=row.since, until=row.until, group=Group.VALIDATION,
    )  # fmt: skip


def answered(trial: Trial, model: Model) -> None:
    """The model is taken for valid: an answer for each operation, and a launched preparation, whatever it ends in."""
    checks.succeeds(lambda: trial.supported_operations(model), "getSupportedOperations of a valid model")
    preparation = trial.prepare(model)
    checks.status(preparation.launch_status, {ErrorStatus.NONE}, "prepareModel of a valid model, returned")
    has_model = preparation.prepared_model is not None
    checks.equal(has_model, preparation.status == ErrorStatus.NONE, "prepareModel of a valid model: a prepared model")
