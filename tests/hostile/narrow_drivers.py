"""Conforming drivers of few operations and one type. Options, by name: `operations` with commas, `type` of results."""

from __future__ import annotations

from npu_conformance.faults.choosy_devices import choosy
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version


def _create(context: Context) -> Subject:
    operations = {OperationType[name] for name in context.options["operations"].split(",")}
    kind = OperandType[context.options["type"]]

    def supports(main: types.Subgraph, operation: types.Operation) -> bool:
        results = {main.operands[index].type for index in operation.outputs}
        return operation.type in operations and results == {kind}

    return Subject(device=choosy(supports)(ReferenceDevice(context, Version.V1_3)))


_OPTIONS = {"operations": "which it has", "type": "of their results"}
plugin = Plugin(Manifest("narrow", "tests", "1", hal_version=Version.V1_3, options=_OPTIONS), _create)
