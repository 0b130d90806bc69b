"""Variations: what turns the model of an example, fed with its values, into another one with the same meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from npu_conformance.corpus.importers.aosp.models import Model
from npu_conformance.corpus.importers.aosp.operands import Operand, Output
from npu_conformance.corpus.importers.aosp.types import Type


class SkipError(Exception):
    """The variation does not apply here: no test comes of this combination, silently."""


class ModelVariation:
    """Base of all. A variation without targets finds them itself, anew in each model."""

    supportsSubgraphs = False

    def __init__(self, name: str | None = None) -> None:
        """name: the variation's part of the names of tests; None for the default one."""
        self.name = name
        self.targetOperands: dict[Operand, Any] = {}

    def Identify(self, targets: Mapping[Operand, Any] | Iterable[Operand]) -> ModelVariation:
        """Say which operands change; a mapping says into what."""
        self.targetOperands = dict(targets) if isinstance(targets, Mapping) else dict.fromkeys(targets)
        return self

    def label(self) -> str:
        """The variation's part of the names of tests."""
        return self.default_name() if self.name is None else self.name

    def default_name(self) -> str:
        """The part where a file gives none."""
        return ""

    def targets(self, model: Model) -> dict[Operand, Any]:
        """The operands to change where a file identified none, with what they change into."""
        return {}

    def ApplyTo(self, model: Model) -> None:
        """Change the model. Raises SkipError where the variation does not apply, ValueError where it is misused."""
        if not self.supportsSubgraphs and any(operand.lifetime == "SUBGRAPH" for operand in model.operands):
            raise ValueError(f"{type(self).__name__} does not support models with subgraphs")
        for operand, target in (self.targetOperands or self.targets(model)).items():
            self.change_operand(model.operand(operand), target)
        self.change_model(model)

    def change_operand(self, operand: Operand, target: Any) -> None:
        """Change one operand."""

    def change_model(self, model: Model) -> None:
        """Change the model as a whole, after its operands."""


class DefaultVariation(ModelVariation):
    """The variation that changes nothing."""

    supportsSubgraphs = True


class DataTypeConverter(ModelVariation):
    """Operands in another type: those identified, each with its `[TYPE, scale, zero point]`, or every float32 one."""

    supportsSubgraphs = True
    _BY_TARGET = (
        ("TENSOR_QUANT8_SYMM_PER_CHANNEL", "channelQuant8"),
        ("TENSOR_QUANT8_ASYMM", "quant8"),
        ("TENSOR_QUANT8_ASYMM_SIGNED", "quant8_signed"),
        ("TENSOR_INT32", "int32"),
        ("TENSOR_FLOAT16", "float16"),
    )
    _QUANT8: Mapping[str, str] = {"quant8": "TENSOR_QUANT8_ASYMM", "quant8_signed": "TENSOR_QUANT8_ASYMM_SIGNED"}

    def __init__(
        self,
        targetType: str | None = None,
        name: str | None = None,
        scale: float | None = None,
        zeroPoint: int | None = None,
    ) -> None:
        """targetType: float16, int32, quant8 or quant8_signed; quant8 ones need a scale and a zero point."""
        super().__init__(name)
        if targetType is not None and not self.IsCompatible(targetType):
            raise ValueError(f"unknown target type {targetType!r}")
        self.targetType, self.scale, self.zeroPoint = targetType, scale, zeroPoint

    @staticmethod
    def IsCompatible(value: Any) -> bool:
        """True for a word that means this variation."""
        return isinstance(value, str) and value.lower() in ("float16", "int32", "quant8", "quant8_signed")

    def default_name(self) -> str:
        """The target type, or that of the identified operands: the first that occurs, in a fixed order."""
        if self.targetType is not None:
            return self.targetType.lower()
        found = {arg[0] for arg in self.targetOperands.values() if not isinstance(arg, DataTypeConverter)}
        return next((name for kind, name in self._BY_TARGET if kind in found), "float32")

    def targets(self, model: Model) -> dict[Operand, Any]:
        """All float32 tensors, scalars too where they stay numbers, and the models that are referenced."""
        if self.targetType is None:
            return {}
        word = self.targetType.lower()
        targets: dict[Operand, Any] = {}
        for operand in model.operands:
            if operand.type.type == "SUBGRAPH":
                targets[operand] = DataTypeConverter(self.targetType, self.name, self.scale, self.zeroPoint)
            elif operand.type.type == "TENSOR_FLOAT32":
                targets[operand] = self._tensor(word)
            elif operand.type.type == "FLOAT32" and word not in self._QUANT8:
                targets[operand] = [word.upper()]
        return targets

    def _tensor(self, word: str) -> list[Any]:
        if word not in self._QUANT8:
            return [f"TENSOR_{word.upper()}"]
        if self.scale is None or self.zeroPoint is None:
            raise ValueError(f"DataTypeConverter({word!r}) needs a scale and a zero point")
        return [self._QUANT8[word], self.scale, self.zeroPoint]

    def change_operand(self, operand: Operand, target: Any) -> None:
        """Convert one operand, or the model it references."""
        if isinstance(target, DataTypeConverter):
            if operand.value is None or not isinstance(operand.value[0], Model):
                raise ValueError(f"{operand}: only a subgraph can be converted by a converter of its own")
            target.ApplyTo(operand.value[0])
            return
        if not isinstance(target, list | tuple) or not target:
            raise ValueError(f"{operand}: expected a list or tuple of type, scale and zero point, found {target!r}")
        convert(operand, Type.of((target[0], operand.type.dimensions, *target[1:])))


def convert(operand: Operand, kind: Type) -> None:
    """Give an operand another type; values go through real numbers. Without elements only the type changes."""
    from npu_conformance.corpus.importers.aosp import numbers

    if operand.has_elements():
        real = numbers.dequantize(operand.GetValueAsNumpy(), operand.type)
        operand.SetValueFromNumpy(numbers.quantize(real, kind))
    operand.type = kind


class RelaxedModeConverter(ModelVariation):
    """float32 may be computed in float16."""

    supportsSubgraphs = True

    def __init__(self, isRelaxed: Any = True, name: str | None = None) -> None:
        """isRelaxed: true, false, or the word that means this variation."""
        super().__init__(name)
        self.isRelaxed = bool(isRelaxed)

    @staticmethod
    def IsCompatible(value: Any) -> bool:
        """True for the word that means this variation."""
        return isinstance(value, str) and value.lower() == "relaxed"

    def default_name(self) -> str:
        """Relaxed, or float."""
        return "relaxed" if self.isRelaxed else "float"

    def change_model(self, model: Model) -> None:
        """Set the flag."""
        model.RelaxedExecution(self.isRelaxed)


class DataLayoutConverter(ModelVariation):
    """NHWC operands in NCHW, or the reverse: tensors of rank 4, vectors over the four axes, and the layout flag."""

    _ORDER: Mapping[str, tuple[int, ...]] = {"nchw": (0, 3, 1, 2), "nhwc": (0, 2, 3, 1)}

    def __init__(self, targetLayout: str = "nchw", name: str | None = None) -> None:
        """targetLayout: nchw or nhwc."""
        super().__init__(name)
        self.targetLayout = targetLayout.lower()
        self._order = self._ORDER[self.targetLayout]

    @staticmethod
    def IsCompatible(value: Any) -> bool:
        """True for a word that means this variation."""
        return isinstance(value, str) and value.lower() in DataLayoutConverter._ORDER

    def default_name(self) -> str:
        """The layout."""
        return self.targetLayout

    def change_operand(self, operand: Operand, target: Any) -> None:
        """Reorder an operand, or set the flag."""
        dimensions = operand.type.dimensions
        if len(dimensions) == 4:
            if operand.has_elements():
                operand.SetValueFromNumpy(operand.GetValueAsNumpy().transpose(self._order))
            operand.type = operand.type.with_dimensions([dimensions[axis] for axis in self._order])
        elif len(dimensions) == 1 and operand.value is not None and len(operand.value) == 4:
            operand.SetValue([operand.value[axis] for axis in self._order])
        elif operand.type.type == "BOOL":
            operand.SetValue(self.targetLayout == "nchw")
        else:
            raise ValueError(f"{operand} has no layout: expected rank 4, a vector of 4 or a BOOL")


class AxisConverter(ModelVariation):
    """Another axis, perhaps in a lower rank: axis `origin` moves to `target`, then axes are dropped at index 0."""

    def __init__(
        self, origin: int, target: int, dim: int, drop: int | Iterable[int] = (), name: str | None = None
    ) -> None:
        """dim: the rank before. drop: axes, as they stand after the move."""
        super().__init__(name)
        dropped = [drop] if isinstance(drop, int) else list(drop)
        if any(not -dim <= axis < dim for axis in (origin, target, *dropped)):
            raise ValueError(f"an axis is out of range for rank {dim}")
        self._target, self._rank, self._drop = target, dim, [axis % dim for axis in dropped]
        if target % dim in self._drop:
            raise ValueError("the target axis cannot be dropped")
        self._order = list(range(dim))
        self._order.insert(target % dim, self._order.pop(origin % dim))

    def default_name(self) -> str:
        """Rank and axis afterwards, and whether the axis is counted from the end."""
        sign = "_neg" if self._target < 0 else ""
        return f"dim{self._rank - len(self._drop)}_axis{self._axis()}{sign}"

    def _axis(self) -> int:
        axis = self._target % self._rank
        return axis - sum(dropped < axis for dropped in self._drop)

    def change_operand(self, operand: Operand, target: Any) -> None:
        """Renumber the axis argument, or transpose and cut a tensor."""
        if operand.type.type == "INT32":
            rank = self._rank - len(self._drop)
            operand.SetValue(self._axis() - (rank if self._target < 0 else 0))
            return
        if len(operand.type.dimensions) != self._rank:
            raise ValueError(f"{operand}: expected rank {self._rank}")
        kept = [axis for axis in range(self._rank) if axis not in self._drop]
        dimensions = [operand.type.dimensions[axis] for axis in self._order]
        if operand.has_elements():
            moved = operand.GetValueAsNumpy().transpose(self._order)
            operand.SetValueFromNumpy(moved[tuple(slice(None) if axis in kept else 0 for axis in range(self._rank))])
        operand.type = operand.type.with_dimensions([dimensions[axis] for axis in kept])


class ActivationConverter(ModelVariation):
    """A fused activation: the INT32 argument and the values of outputs."""

    _BOUNDS: Mapping[str, tuple[int, float | None, float | None]] = {
        "none": (0, None, None),
        "relu": (1, 0.0, None),
        "relu1": (2, -1.0, 1.0),
        "relu6": (3, 0.0, 6.0),
    }

    def __init__(self, act: str, name: str | None = None) -> None:
        """act: none, relu, relu1 or relu6."""
        super().__init__(name)
        self._act = act.lower()
        self._code, self._low, self._high = self._BOUNDS[self._act]

    @staticmethod
    def IsCompatible(value: Any) -> bool:
        """True for a word that means this variation."""
        return isinstance(value, str) and value.lower() in ActivationConverter._BOUNDS

    def default_name(self) -> str:
        """The activation."""
        return self._act

    def change_operand(self, operand: Operand, target: Any) -> None:
        """Set the argument, or clamp an output."""
        if operand.type.type == "INT32":
            operand.SetValue(self._code)
            return
        if not isinstance(operand, Output):
            raise ValueError(f"{operand}: expected an INT32 argument or an output")
        if operand.has_elements():
            self._clamp(operand)

    def _clamp(self, operand: Operand) -> None:
        import numpy

        from npu_conformance.corpus.importers.aosp import numbers

        values = operand.GetValueAsNumpy()
        for bound, limit in ((self._low, numpy.maximum), (self._high, numpy.minimum)):
            if bound is not None:
                values = limit(values, numbers.quantize(numpy.array(bound, numpy.float32), operand.type))
        operand.SetValueFromNumpy(values)


_IMPLICIT = (RelaxedModeConverter, ActivationConverter, DataLayoutConverter, DataTypeConverter)


def implied(value: Any) -> ModelVariation:
    """The variation that an argument of AddVariations means: one itself, a word, or a word with operands."""
    if isinstance(value, ModelVariation):
        return value
    word, *operands = value if type(value) in (list, tuple) and value else [value]
    for kind in _IMPLICIT:
        if kind.IsCompatible(word):
            made = kind(word)
            if len(operands) == 1 and isinstance(operands[0], Mapping | list | tuple):
                return made.Identify(operands[0])
            return made.Identify(operands)
    raise ValueError(f"{value!r} means no variation")
