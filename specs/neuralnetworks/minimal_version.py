"""The oldest HAL version in which a model is legal."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, OperationType
from npu_conformance.specs.neuralnetworks.operation_view import view_of
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version

# What HIDL and AIDL spell differently in one and the same model: consumer counts and kinds of memory.
_SPELLING = {"MODEL.G5", "MODEL.M3"}


def minimal_version(model: Model) -> Version:
    """Return the first version whose rules the model keeps; raises ValueError naming the first broken rule if none.

    Counts structure, signatures and the rules of operations as far as the model shows values and shapes.
    """
    for version in Version:
        if _fields_since(model) <= version and not _broken(model, version):
            return version
    raise ValueError(f"no version has this model: {_broken(model, version)[0]}")


def _fields_since(model: Model) -> Version:
    if model.referenced:
        return Version.V1_3
    if model.extension_name_to_prefix:
        return Version.V1_2
    return Version.V1_1 if model.relax_computation_float32_to_float16 else Version.V1_0


def _broken(model: Model, version: Version) -> list[str]:
    found = [str(violation) for violation in validate_model(model, version) if violation.clause not in _SPELLING]
    if found:
        return found
    for subgraph, graph in enumerate((model.main, *model.referenced)):
        for index, operation in enumerate(graph.operations):
            if operation.type <= BASE_TYPE_MAX and operation.type != OperationType.OEM_OPERATION:
                found += map(str, rules.check(view_of(model, index, version, subgraph=subgraph)))
    return found
