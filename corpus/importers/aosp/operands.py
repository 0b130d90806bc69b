"""Operands: inputs, outputs, internals and parameters, and what a plain Python value becomes as an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from npu_conformance.corpus.importers.aosp import naming
from npu_conformance.corpus.importers.aosp.types import SymmPerChannelQuantParams, Type

if TYPE_CHECKING:
    from npu_conformance.corpus.importers.aosp.models import Model
    from npu_conformance.corpus.importers.aosp.numbers import Array

Derived = TypeVar("Derived", bound="Operand")


class Configuration:
    """Switches that a file may set. use_shm_for_weights: parameters made from now on lie in shared memory."""

    use_shm_for_weights = False


class Operand:
    """A named operand. Names are unique in a file and stand for the operand in comparisons, sets and dictionaries.

    value: a list or tuple of elements in row-major order, or None; never changed in place, so that copies share it.
    """

    lifetime = "TEMPORARY_VARIABLE"

    def __init__(
        self,
        name: str,
        opType: str | Sequence[Any],
        value: Any = None,
        backward: Any = None,
        skipRenaming: bool = False,
        extraParams: SymmPerChannelQuantParams | None = None,
    ) -> None:
        """opType: (TYPE, [dims], scale, zero point); or a TYPE, then `value` is the shape and `backward` the value."""
        self.name = name if skipRenaming else naming.current().operand_names.unique(name)
        if isinstance(opType, str):
            self.type, value = Type.parse(opType, value or "", extraParams), backward
        else:
            self.type = Type.of(opType, extraParams)
        self.mayBeInternal = True
        self.value: Sequence[Any] | None = None
        self.SetValue(value)

    def SetValue(self, value: Any) -> Operand:
        """Set the value; one element may stand alone."""
        self.value = value if value is None or type(value) in (list, tuple) else [value]
        return self

    def SetValueFromNumpy(self, value: Array) -> Operand:
        """Set the value to the elements of an array."""
        self.value = value.ravel().tolist()
        return self

    def GetValueAsNumpy(self) -> Array:
        """The value in the operand's shape."""
        import numpy

        return numpy.array(self.value).reshape(self.type.dimensions)

    def has_elements(self) -> bool:
        """True where there is a value and something in it."""
        return bool(self.value is not None and len(self.value)) and self.type.GetNumberOfElements() != 0

    def ShouldNeverBeInternal(self) -> Operand:
        """Keep variations from making this operand internal."""
        self.mayBeInternal = False
        return self

    def ConvertTo(self, kind: type[Derived], name: str | None = None) -> Derived:
        """The same operand in another role; an Internal loses its value. The name is taken as it is."""
        if issubclass(kind, Internal) and not self.mayBeInternal:
            raise ValueError(f"{self.name} should never be internal")
        made = kind.__new__(kind)
        made.name, made.type, made.mayBeInternal = name or self.name, self.type, self.mayBeInternal
        made.value = None if issubclass(kind, Internal) else self.value
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operand) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __lt__(self, other: Operand) -> bool:
        return self.name < other.name

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


class Variable(Operand):
    """An operand without a value of its own."""

    def __init__(self, name: str, opType: str | Sequence[Any], backward: Any = None, **more: Any) -> None:
        """backward: the shape, where opType is a name alone."""
        super().__init__(name, opType, backward, **more)


class Input(Variable):
    """An input of the model."""

    lifetime = "SUBGRAPH_INPUT"


class Output(Variable):
    """An output of the model."""

    lifetime = "SUBGRAPH_OUTPUT"


class IgnoredOutput(Output):
    """An output that nobody compares: its values are zeros, whatever a feed says."""

    def SetValue(self, value: Any) -> Operand:
        """Set zeros."""
        return super().SetValue([0] * self.type.GetNumberOfElements())


class Internal(Variable):
    """A value between operations."""


class Parameter(Operand):
    """A constant; one without value is an omitted argument."""

    def __init__(self, name: str, opType: str | Sequence[Any], value: Any, backward: Any = None, **more: Any) -> None:
        super().__init__(name, opType, value, backward, **more)
        shared = "CONSTANT_REFERENCE" if Configuration.use_shm_for_weights else "CONSTANT_COPY"
        self.lifetime = shared if self.value is not None else "NO_VALUE"


class Int32Scalar(Parameter):
    """A scalar INT32."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name, ("INT32", []), int(value))


class Float16Scalar(Parameter):
    """A scalar FLOAT16."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name, ("FLOAT16", []), float(value))


class Float32Scalar(Parameter):
    """A scalar FLOAT32."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name, ("FLOAT32", []), float(value))


class BoolScalar(Parameter):
    """A scalar BOOL."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name, ("BOOL", []), bool(value))


class Int32Vector(Parameter):
    """A TENSOR_INT32 of rank 1."""

    def __init__(self, name: str, value: Sequence[Any]) -> None:
        super().__init__(name, ("TENSOR_INT32", [len(value)]), [int(element) for element in value])


class Float32Vector(Parameter):
    """A TENSOR_FLOAT32 of rank 1."""

    def __init__(self, name: str, value: Sequence[Any]) -> None:
        super().__init__(name, ("TENSOR_FLOAT32", [len(value)]), [float(element) for element in value])


class SubgraphReference(Parameter):
    """A model as an argument. A model that has no name takes the one given here, not the operand's unique one."""

    def __init__(self, name: str, model: Model) -> None:
        super().__init__(name, ("SUBGRAPH", []), model)
        self.lifetime = "SUBGRAPH"
        if model.name is None:
            model.name = name


def argument(value: Any) -> Operand:
    """The operand that a value means as an argument of an operation, by its exact Python type."""
    from npu_conformance.corpus.importers.aosp.models import Model

    if isinstance(value, Operand):
        return value
    exact: dict[type, type[Any]] = {int: Int32Scalar, float: Float32Scalar, bool: BoolScalar, Model: SubgraphReference}
    kind = exact.get(type(value))
    if kind is None and type(value) in (list, tuple):
        if all(type(element) is int for element in value):
            kind = Int32Vector
        elif all(type(element) is float for element in value):
            kind = Float32Vector
    if kind is None:
        raise TypeError(f"{value!r} is no argument: expected an operand, int, float, bool, model or list of numbers")
    made: Operand = kind("param", value)
    return made
