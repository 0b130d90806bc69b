"""How relations are declared: a function that tries one on a RelationFixture, for the types in which it holds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from npu_conformance.corpus.model_builder import IllegalOperationError
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import OLDEST, Version
from npu_conformance.vts.lib.relations.fixture import RelationFixture

Check = Callable[[RelationFixture], None]

EXECUTION = ("NNHAL-SUPPORT-001", "NNHAL-PREPARE-004", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002")
SHORT = {
    OperandType.TENSOR_FLOAT32: "float32",
    OperandType.TENSOR_FLOAT16: "float16",
    OperandType.TENSOR_QUANT8_ASYMM: "quant8",
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED: "quant8_signed",
    OperandType.TENSOR_INT32: "int32",
    OperandType.TENSOR_BOOL8: "bool8",
}
"""Types as they are spelled in ids."""


@dataclass(frozen=True)
class Relation:
    """A relation between results of one device. operations: all that take part, the subject first."""

    name: str
    operations: tuple[str, ...]
    types: tuple[OperandType, ...]
    check: Check
    requirements: tuple[str, ...] = ()
    since: Version = OLDEST

    def cases(self) -> Iterator[Case]:
        """A case for each type, from the version on that has it in all operations."""
        for operand_type in self.types:
            since = max(_since(operation, operand_type) for operation in self.operations)
            yield self._case(operand_type, max(since, self.since))

    def _case(self, operand_type: OperandType, since: Version) -> Case:
        def run(context: CaseContext) -> None:
            context.attach(lambda: {"id": context.case.id})
            try:
                self.check(RelationFixture(context, operand_type))
            except IllegalOperationError as error:
                raise NotApplicable(f"HAL {context.version} does not allow it: {error}") from error

        results = (f"NNHAL-OPERATION-{operation}-RESULT" for operation in self.operations)
        return Case(
            f"vts.relations.{self.operations[0]}.{self.name}_{SHORT[operand_type]}",
            run,
            (*results, *EXECUTION, *self.requirements),
            inspect.getdoc(self.check) or "",
            since=since,
            group=Group.EXECUTION,
            operations=self.operations,
            types=(operand_type.name,),
        )


class RelationGroup:
    """The relations of a module, in order of definition."""

    def __init__(self) -> None:
        self._all: list[Relation] = []

    def relation(
        self,
        name: str,
        operations: str,
        types: Sequence[OperandType],
        *requirements: str,
        since: Version = OLDEST,
    ) -> Callable[[Check], Check]:
        """Declare a function as the relation `name` of the operations, which are separated by blanks."""

        def declare(check: Check) -> Check:
            self._all.append(Relation(name, tuple(operations.split()), tuple(types), check, requirements, since))
            return check

        return declare

    def __call__(self) -> Iterator[Case]:
        """Their cases: a module says `cases = RelationGroup()`."""
        for relation in self._all:
            yield from relation.cases()


def _since(operation: str, operand_type: OperandType) -> Version:
    """The first version in which an operation can have a tensor of the type; its own where it computes in another."""
    table = catalogue.operation(operation)
    versions = [
        since
        for signature in table.signatures
        for since, combinations in signature.types.items()
        for types in combinations
        if operand_type.name in types.values()
    ]
    return max(min(versions, default=table.since), OPERAND_TYPES[operand_type].since)
