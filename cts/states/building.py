"""Models that are built in other orders than the usual one: they are the same models."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vector_types import Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.cts.lib.runtime.arguments import Arguments
from npu_conformance.cts.lib.runtime.building import in_order
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.model_form import form
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import NEWEST, Version

cases = CaseGroup("cts.states.building", interface="runtime", group=Group.RUNTIME_MODELS)

_ORDERS = 6
"""How many orders of each model."""
_REQUIREMENTS = ("FW-MDL-012", "FW-MDL-014", "FW-MDL-015", "FW-MDL-019", "FW-MDL-024", "FW-MDL-026")
_VECTORS = {
    "channels": ("CONV_2D", "per_channel_wide_tails_stride2x1_relu1", Version.V1_2),
    "long_channels": ("CONV_2D", "per_channel_67_channels", Version.V1_2),
    "omitted": ("SVDF", "float32_rank2_relu_bias_omitted", Version.V1_0),
    "long": ("FULLY_CONNECTED", "float32_768", Version.V1_0),
    "nested": ("WHILE", "nested", Version.V1_3),
    "relaxed": ("FULLY_CONNECTED", "float32_rank2_none", Version.V1_1),
}
"""A name, the stored vector, and the feature level that can have it."""
_CHANGED_ON_THE_WAY = ("long_channels", "nested")
"""Models of which a runtime takes away what has its default, or numbers the graphs as it likes."""


def _declare(name: str, operation: str, vector: str, since: Version) -> None:
    @cases.case(f"computes.{name}", *_REQUIREMENTS, since=since)
    def computes(context: CaseContext) -> None:
        """However it was built, with its constants in memory or not, the model computes the same."""
        found = _vector(operation, vector, is_relaxed=name == "relaxed")
        for number in range(_ORDERS):
            with context.configuration(f"order_{number}"):
                app = RuntimeApp(context)
                pool = context.filled_pool if number % 2 else None
                _judge_results(app, found, build_model(found, app.level, create_pool=pool).model, number)

    if name in _CHANGED_ON_THE_WAY:
        return

    @cases.case(f"told.{name}", *_REQUIREMENTS, "FW-PRT-005", since=max(since, Version.V1_2))
    def told(context: CaseContext) -> None:
        """However it was built, it is the same model that a driver is asked about."""
        wire = build_model(_vector(operation, vector, is_relaxed=name == "relaxed"), NEWEST).model
        for number in range(_ORDERS):
            with context.configuration(f"order_{number}"):
                app = ScriptedApp(context, driver("one"))
                app.supported(app.built(wire, in_order(number)), "one")
                for found in app.asked_about("one"):
                    checks.equal(form(found), form(wire), "the model that the driver was asked about")


for _name, _row in _VECTORS.items():
    _declare(_name, *_row)


def _vector(operation: str, name: str, *, is_relaxed: bool) -> Vector:
    found = vectors.load(operation, name)
    return replace(found, relaxed=True) if is_relaxed else found


def _judge_results(app: RuntimeApp, vector: Vector, model: Model, number: int) -> None:
    example = vector.examples[0]
    request = build_request(vector, example, app.level, padded_outputs=False)
    arguments = Arguments(app, model, request)
    execution = app.execution(app.finished_compilation(app.built(model, in_order(number))))
    arguments.set(execution)
    app.expect("execution_compute", app.compute(execution))
    content = arguments.collect()
    outputs = {name: request.read(name, content, array.shape) for name, array in example.outputs.items()}
    judge(app.context, vector, example, outputs, about=_broken)


def _broken(_: Vector, __: str) -> tuple[str, ...]:
    return ("FW-MDL-024",)
