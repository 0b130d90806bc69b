"""Which methods of its version a driver does not have, as the cases found out that wanted them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.interfaces import NOT_IMPLEMENTED, describe
from npu_conformance.specs.naming import camel_case
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

_SAID = re.compile(rf"(?:^|found Unsupported )(?P<interface>\w+)\.(?P<method>\w+) {NOT_IMPLEMENTED}")
"""How the refusal of a method that an implementation does not have reads, in the spelling of Python or of the wire."""
_OUTCOMES = (Outcome.NOT_SUPPORTED, Outcome.FAIL)
"""Of a case that cannot do without the method, and of one that is about the call itself."""


def missing_methods(verdicts: Sequence[CaseResult], version: str) -> list[str]:
    """The methods of the NN HAL that this version has and the driver refused to some case, in the order of the HAL.

    None of them is optional: what a driver declines, it declines by a status. None for a version that is not known.
    """
    refused = set(_refused(verdicts))
    if not refused or version not in [known.value for known in Version]:
        return []
    return [name for name in _methods(Version(version)) if name in refused]


def missing_scheduling_methods(verdicts: Sequence[CaseResult]) -> list[str]:
    """The methods of the scheduling HAL that it refused to some case, in its order; none of them is optional either."""
    from npu_conformance.specs.npu.scheduling import Scheduling

    refused = set(_refused(verdicts))
    names = [f"{Scheduling.__name__}.{method.wire_name}" for method in describe(Scheduling).values()]
    return [name for name in names if name in refused]


def _refused(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    for result in verdicts:
        parts: tuple[CaseResult | ConfigurationResult, ...] = (result, *result.configurations)
        for part in parts:
            said = _SAID.search(part.message) if part.outcome in _OUTCOMES else None
            if said is not None:
                interface, method = said["interface"], camel_case(said["method"])
                yield f"{interface[0].upper()}{interface[1:]}.{method}"


def _methods(version: Version) -> Iterator[str]:
    from npu_conformance.specs.neuralnetworks import hal

    for interface in (hal.Device, hal.PreparedModel, hal.Burst, hal.Execution, hal.Buffer, hal.FencedExecutionCallback):
        for method in describe(interface).values():
            if method.mark.since <= version <= method.mark.until:
                yield f"{interface.__name__}.{method.wire_name}"
