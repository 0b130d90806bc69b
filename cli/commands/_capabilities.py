"""What the speed of models says of a device's capabilities: ratios to the CPU by type, beside those that it declares.

`operandPerformance` is the time on the device over the time on the CPU (ML-CAP-001); power cannot be measured here.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from npu_conformance.cli.commands import run
from npu_conformance.cli.commands._selecting import require_selected
from npu_conformance.cli.errors import UsageError
from npu_conformance.corpus import zoo
from npu_conformance.harness.judge.outcome_table import OK, WRONG, is_red
from npu_conformance.harness.report import lines
from npu_conformance.harness.report.figures import by_subject
from npu_conformance.harness.run import selection
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.diagnostics import diagnosed
from npu_conformance.harness.run.selection import Wanted
from npu_conformance.harness.run.session import Session
from npu_conformance.specs.documents.results import Measurement
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks import performance
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.types import Capabilities

_FIGURE = "inference"
_OF_REPORTS = (
    "scheduler", "shard", "budget", "report", "resume", "last_failed", "baseline", "require_conformant", "vectors",
)  # fmt: skip
"""Options of `run` that divide, continue, compare or add to a run: here they would do nothing."""
_OVERSTATED = 2.0
"""A device that declares so many times the speed that was measured draws work which the CPU would do sooner."""


@dataclass(frozen=True)
class Ratio:
    """One type. measured: the geometric mean over models of time on the device over time on the CPU.

    at_least: the same of the lower ends of the device's intervals over the upper ends of the CPU's. declared: by the
    device; None where that is not known.
    """

    type: OperandType
    models: int
    measured: float
    at_least: float
    declared: float | None

    @property
    def is_overstated(self) -> bool:
        """True where the device declares much more speed than it has, by more than the measurements scatter."""
        return self.declared is not None and self.declared * _OVERSTATED < self.at_least


def execute(options: argparse.Namespace) -> int:
    """Measure, and print a line for each type. WRONG where the device declares much more speed than it has.

    Cases that are red, and an interrupt, leave their models out: they are told, and the exit code is that of the run.
    """
    _require_sense(options)
    options.report = None
    wanted = Wanted(tuple(options.targets), options.expression, Scope(options.scope))
    cases = selection.select(wanted).cases
    require_selected([case.id for case in cases], wanted)
    with (
        diagnosed(options.trace, options.log, options.wire_log),
        closing(Session(run.run_session_options(options))) as session,
    ):
        session.prepare()
        device = session.subject.interfaces.device
        if device is None:
            raise UsageError(f"{options.plugin} has no NN HAL device")
        declared = _declared(device)
        session.start(cases)
        summary = session.run_all()
    ratios = list(_ratios([one for result in summary.verdicts for one in result.measurements], declared))
    red = [result for result in summary.verdicts if is_red(result.outcome, result.dispositions)]
    print("\n".join([*map(lines.headline, red), *_lines(ratios, options.beside)]))
    return max(summary.exit_code, WRONG if any(ratio.is_overstated for ratio in ratios) else OK)


def _require_sense(options: argparse.Namespace) -> None:
    if options.beside is None:
        raise UsageError("capabilities are ratios to a CPU: name one by --beside, such as litert (extra [litert])")
    run.require_sense(options)
    given = next((name for name in _OF_REPORTS if getattr(options, name)), "")
    if given or options.processes > 1:
        flag = f"--{given.replace('_', '-')}" if given else "-n"
        raise UsageError(f"{flag}: not with capabilities, which are one run of few models and leave no report")


def _declared(device: Device) -> Capabilities | None:
    """What the device declares; None where it does not tell."""
    try:
        return device.get_capabilities()
    except InterfaceError as error:
        print(f"what the device declares is not known: {error}")
        return None


def _ratios(measured: Sequence[Measurement], declared: Capabilities | None) -> Iterator[Ratio]:
    """A ratio for each type that a model which ran on both sides mostly computes in."""
    name = next((one.beside for one in measured if one.beside), "")
    device, cpu = by_subject(measured, ""), by_subject(measured, name) if name else {}
    pairs: dict[OperandType, list[tuple[Measurement, Measurement]]] = {}
    for model in device.keys() & cpu.keys():
        if _FIGURE in device[model] and _FIGURE in cpu[model]:
            pairs.setdefault(_type_of(model), []).append((device[model][_FIGURE], cpu[model][_FIGURE]))
    for operand_type, found in sorted(pairs.items()):
        mean = statistics.geometric_mean(ours.value / its.value for ours, its in found)
        least = statistics.geometric_mean((ours.low or ours.value) / (its.high or its.value) for ours, its in found)
        told = None if declared is None else performance.of_type(declared, operand_type).exec_time
        yield Ratio(operand_type, len(found), mean, least, told)


def _type_of(model: str) -> OperandType:
    """The type that most operations of a model take first: others only convert."""
    vector = zoo.load(model).vector
    counted = Counter(vector.operands[operation.inputs[0]].type for operation in vector.operations)
    return OperandType(counted.most_common(1)[0][0])


def _lines(ratios: Sequence[Ratio], beside: str) -> Iterator[str]:
    if not ratios:
        yield f"no model ran both on the device and on {beside}: nothing can be said"
        return
    yield f"execTime of operandPerformance: time on the device over time on {beside}; less is faster"
    yield f"{'type':<28}  models  measured  at least  declared"
    for ratio in ratios:
        verdict = "  declares much more speed than it has" if ratio.is_overstated else ""
        declared = "-" if ratio.declared is None else f"{ratio.declared:.3g}"
        figures = f"{ratio.models:>6}  {ratio.measured:>8.3g}  {ratio.at_least:>8.3g}  {declared:>8}"
        yield f"{ratio.type.name:<28}  {figures}{verdict}"
