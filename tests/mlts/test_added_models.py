"""Models of a user's own, of which nothing is known but the file: correct answers pass, whatever they look like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason="LiteRT is not installed")

from tflite_files import File

from npu_conformance.cli.main import main
from npu_conformance.corpus import zoo
from npu_conformance.harness.judge.verdicts import Failed, NotApplicable
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.mlts import together

ROW = [1, 8]
FAULTS = "npu_conformance.faults.plugin:plugin"
Add = Callable[[bytes], None]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Adds a file to the zoo as `mine`, in a cache of the test's own."""
    monkeypatch.setenv("NPU_CONFORMANCE_MODELS", str(tmp_path / "models"))

    def added(content: bytes) -> None:
        path = tmp_path / "mine.tflite"
        path.write_bytes(content)
        assert main(["models", "add", str(path)]) == 0

    return added


def run(case_id: str, plugin: str = "reference", beside: str = "", **options: str) -> CaseContext:
    case = suites.find(case_id)
    subjects = [open_subject(plugin, options, "inprocess")]
    try:
        if beside:
            subjects.append(open_subject(beside, {}, "inprocess"))
        other = subjects[1] if beside else None
        context = CaseContext(case, subjects[0], scope=Scope.SMOKE, beside=other)
        case.run(context)
        context.close()
    finally:
        for subject in subjects:
            subject.close()
    return context


def best_class() -> bytes:
    """Which of two classes is the best: always the first, whatever the order of the weights."""
    file = File()
    graph = file.main
    weights = graph.constant("FLOAT32", numpy.linspace(-0.5, 0.5, 16).reshape(2, 8))
    bias = graph.constant("FLOAT32", [100.0, 0.0])
    given = graph.input("FLOAT32", ROW)
    scores = graph.operator("FULLY_CONNECTED", [given, weights, bias], ("FLOAT32", [1, 2]), "FullyConnected")
    axis = graph.tensor("INT32", [], value=1)
    kind = file.schema.TensorType.INT32
    return file.pack(graph.operator("ARG_MAX", [scores, axis], ("INT32", [1]), "ArgMax", outputType=kind))


def doubled() -> bytes:
    """Twice the input: weights that are the same in reverse order."""
    file = File()
    given, twos = file.main.input("FLOAT32", ROW), file.main.constant("FLOAT32", numpy.full(ROW, 2.0))
    return file.pack(file.main.operator("MUL", [given, twos], ("FLOAT32", ROW), "Mul"))


def scaled() -> bytes:
    """The input times one to eight."""
    file = File()
    given, scales = file.main.input("FLOAT32", ROW), file.main.constant("FLOAT32", numpy.arange(1.0, 9.0).reshape(ROW))
    return file.pack(file.main.operator("MUL", [given, scales], ("FLOAT32", ROW), "Mul"))


def squashed() -> bytes:
    """The hyperbolic tangent of the input: no weights."""
    file = File()
    return file.pack(file.main.operator("TANH", [file.main.input("FLOAT32", ROW)], ("FLOAT32", ROW)))


def root() -> bytes:
    """The square root of the input times one to eight: no number for the inputs below 0, which half of them are."""
    file = File()
    given, scales = file.main.input("FLOAT32", ROW), file.main.constant("FLOAT32", numpy.arange(1.0, 9.0).reshape(ROW))
    products = file.main.operator("MUL", [given, scales], ("FLOAT32", ROW), "Mul")
    return file.pack(file.main.operator("SQRT", [products], ("FLOAT32", ROW)))


def test_what_is_no_number_by_definition_is_judged_by_no_metric(add: Add) -> None:
    add(root())
    context = run("mlts.accuracy.mine.answers", beside="reference")
    found = {one.name: one.value for one in context.measurements}
    assert found["cosine"] == pytest.approx(1.0)
    assert found["largest_error"] == 0.0
    assert {record.details.message for record in context.configurations.values()} <= {""}


def test_a_number_is_due_where_the_other_implementation_has_one(add: Add) -> None:
    add(scaled())
    with pytest.raises(Failed, match="expected a number, as reference has it there, found NaN"):
        run("mlts.accuracy.mine.answers", FAULTS, beside="reference", fault="model-no-numbers")


def test_models_of_which_other_weights_have_the_same_answers_may_answer_alike(add: Add) -> None:
    add(best_class())
    assert run("mlts.together.mine.twins").restarts > 0


def test_a_restart_is_made_only_where_answers_are_alike(add: Add) -> None:
    add(scaled())
    assert run("mlts.together.mine.twins").restarts == 0


@pytest.mark.parametrize("model", [doubled, squashed])
def test_a_model_without_weights_in_another_order_has_no_twin(add: Add, model: Callable[[], bytes]) -> None:
    add(model())
    with pytest.raises(NotApplicable, match="no weights that have another order"):
        run("mlts.together.mine.twins")


def test_the_largest_weights_that_have_another_order_are_reversed() -> None:
    model = zoo.load("digits_conv")
    twin = together.twin_of(model)
    (changed,) = [
        name for name, operand in twin.vector.operands.items() if operand.value is not model.vector.operands[name].value
    ]
    before, after = (one.vector.operands[changed].value for one in (model, twin))
    assert before is not None
    assert after is not None
    assert (before.reshape(-1) == after.reshape(-1)[::-1]).all()


def test_answers_of_the_twin_are_told_from_those_of_the_model_alone(add: Add) -> None:
    add(scaled())
    with pytest.raises(Failed, match="in a driver that was started again"):
        run("mlts.together.mine.twins", FAULTS, fault="model-answers-by-structure")
