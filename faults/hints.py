"""Faults in how a driver treats hints and the calls that carry them, and conforming variants with extensions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.extended import ExtendedDevice, extended, extended_models
from npu_conformance.faults.factories import called_a_failure, fault
from npu_conformance.faults.fault import FaultySubject, Variant
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version

_FIBONACCI = "com.npu_conformance.fibonacci"
_INVALID, _GENERAL = ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE

Hints = Sequence[types.TokenValuePair]
Names = Sequence[types.ExtensionNameAndPrefix]
"""A mapping of extensions: which prefix each name has."""
Judge = Callable[[Hints, Names], bool]
"""A predicate: True for hints of which the driver makes an error."""


def _unknown(hints: Hints, mapping: Names) -> bool:
    names = {one.prefix: one.name for one in mapping}
    return any(names.get(hint.token >> 16) != _FIBONACCI for hint in hints)


def _unmapped(hints: Hints, mapping: Names) -> bool:
    return any(hint.token >> 16 not in {one.prefix for one in mapping} for hint in hints)


def _invalid(hints: Hints, mapping: Names) -> bool:
    names = {one.prefix: one.name for one in mapping}
    own = [hint for hint in hints if names.get(hint.token >> 16) == _FIBONACCI]
    return any(hint.token & 0xFFFF or not _is_count(hint.value) for hint in own)


def _valid(hints: Hints, mapping: Names) -> bool:
    names = {one.prefix: one.name for one in mapping}
    return any(names.get(hint.token >> 16) == _FIBONACCI and _is_count(hint.value) for hint in hints)


def _by_low_bits(hints: Hints, mapping: Names) -> bool:
    return any(hint.token & 0xFFFF == 0 and not _is_count(hint.value) for hint in hints)


def _like_a_count(hints: Hints, mapping: Names) -> bool:
    return any(hint.token & 0xFFFF == 0 and _is_count(hint.value) for hint in hints)


def _huge(hints: Hints, mapping: Names) -> bool:
    return any(len(hint.value) > 4096 for hint in hints)


def _many(hints: Hints, mapping: Names) -> bool:
    return len(hints) > 64


def _empty(hints: Hints, mapping: Names) -> bool:
    return any(not hint.value for hint in hints)


def _mapped_only(hints: Hints, mapping: Names) -> bool:
    return bool(mapping) and not hints


def _none(hints: Hints, mapping: Names) -> bool:
    return not hints


def _negative(hints: Hints, mapping: Names) -> bool:
    return any(hint.token < 0 for hint in hints)


def _breaks_rules(hints: Hints, mapping: Names) -> bool:
    """True for hints that a client must not send."""
    tokens = {hint.token for hint in hints}
    names, prefixes = {one.name for one in mapping}, {one.prefix for one in mapping}
    is_doubled = len(tokens) < len(hints) or len(names) < len(mapping) or len(prefixes) < len(mapping)
    return is_doubled or _negative(hints, mapping) or any(prefix > 0x7FFF for prefix in prefixes)


def _is_count(value: bytes) -> bool:
    return len(value) == 8 and 1 <= int.from_bytes(value, "little", signed=True) <= 79


class _ServesConfigurations(ExtendedDevice):
    """Reports a rejection of the boundary to the callback as well."""

    def prepare_model_with_config(
        self, model: types.Model, config: types.PrepareModelConfig, callback: hal.PreparedModelCallback | None
    ) -> None:
        try:
            self.hinted(model, config)
        except ServiceError as error:
            if callback is not None:
                callback.notify(error.status, None)
            raise
        super().prepare_model_with_config(model, config, callback)


def _preparing(judge: Judge, status: int = _INVALID) -> FaultySubject:
    """Preparations that fail for some hints."""

    class Device(_ServesConfigurations):
        def hinted(self, model: types.Model, config: types.PrepareModelConfig) -> types.PrepareModelConfig:
            if judge(config.compilation_hints, config.extension_name_to_prefix):
                raise ServiceError(status, "these hints")
            return config

    return extended(Device)


class _MappingOfTheModel(_ServesConfigurations):
    """Looks up the prefixes of hints in the model's mapping."""

    def hinted(self, model: types.Model, config: types.PrepareModelConfig) -> types.PrepareModelConfig:
        if _invalid(config.compilation_hints, model.extension_name_to_prefix):
            raise ServiceError(_INVALID, "a hint of this extension, with an invalid value")
        return config


class _DiesOfHugeHints(ExtendedDevice):
    """Copies values into a buffer of fixed size."""

    def hinted(self, model: types.Model, config: types.PrepareModelConfig) -> types.PrepareModelConfig:
        if _huge(config.compilation_hints, ()):
            raise IndexError("beyond the buffer")
        return config


class _CorrectsZeroPoints(ExtendedDevice):
    """Corrects the zero points of models that come with a configuration, which its check lets pass then."""

    def prepare_model_with_config(self, model: types.Model, *rest: Any) -> None:
        operands = tuple(replace(one, zero_point=0) for one in model.main.operands)
        super().prepare_model_with_config(replace(model, main=replace(model.main, operands=operands)), *rest)


class _RefusesWithoutNotifying(ExtendedDevice):
    """Looks at a model before it takes the callback: an argument error is returned, and not notified."""

    def prepare_model_with_config(self, model: types.Model, *rest: Any) -> None:
        self.inner.get_supported_operations(model)
        super().prepare_model_with_config(model, *rest)


Execute = Callable[[Any, types.Request, types.ExecutionConfig, int], types.ExecutionResult]
"""A function of the prepared model inside, and the arguments."""


def _executing(execute: Execute) -> FaultySubject:
    """Executions with a configuration that go another way."""

    class Model(FaultyPreparedModel):
        def execute_synchronously_with_config(self, *arguments: Any) -> types.ExecutionResult:
            return execute(self.inner, *arguments)

    return extended_models(Model)


def _failing(judge: Judge, error: Exception | None = None) -> FaultySubject:
    """Executions that fail for some hints."""

    def execute(inner: Any, request: types.Request, config: types.ExecutionConfig, deadline_ns: int) -> Any:
        if judge(config.execution_hints, config.extension_name_to_prefix):
            raise error or ServiceError(_INVALID, "these hints")
        return inner.execute_synchronously_with_config(request, config, deadline_ns)

    return _executing(execute)


def _skipping(judge: Judge) -> FaultySubject:
    """Executions that write no outputs for some hints."""

    def execute(inner: Any, request: types.Request, config: types.ExecutionConfig, deadline_ns: int) -> Any:
        if judge(config.execution_hints, config.extension_name_to_prefix):
            return types.ExecutionResult(True, (), types.Timing(-1, -1))
        return inner.execute_synchronously_with_config(request, config, deadline_ns)

    return _executing(execute)


def _called_failures(inner: Any, request: types.Request, config: types.ExecutionConfig, deadline_ns: int) -> Any:
    with called_a_failure():
        return inner.execute_synchronously_with_config(request, config, deadline_ns)


_fault = functools.partial(fault, family="hint", area="vts.extensions")

_IGNORED, _OWN = "compilation_hints.ignored", "compilation_hints.fibonacci"
_EXECUTION, _OWN_EXECUTION = "execution_hints.ignored", "execution_hints.fibonacci"

FAULTS = (
    _fault("unknown-fails-preparation", "A hint of an unknown extension is an argument error.", "NNHAL-PREPARE-019",
           _IGNORED, _preparing(_unknown)),
    _fault("unknown-fails-generally", "A hint of an unknown extension ends in GENERAL_FAILURE.", "NNHAL-PREPARE-019",
           _IGNORED, _preparing(_unknown, _GENERAL)),
    _fault("unmapped-fails-preparation", "A hint whose prefix is not mapped is an argument error.", "NNHAL-PREPARE-020",
           _IGNORED, _preparing(_unmapped)),
    _fault("invalid-fails-preparation", "An invalid hint of an own extension is an argument error.",
           "NNHAL-PREPARE-020", f"{_OWN} {_IGNORED}", _preparing(_invalid)),
    _fault("valid-fails-preparation", "A valid hint of an own extension is an argument error.", "NNHAL-PREPARE-020",
           _OWN, _preparing(_valid)),
    _fault("by-low-bits", "Hints are known by the low bits of their tokens.", "NNHAL-PREPARE-019",
           f"{_IGNORED} compilation_hints.prefix_of_the_call", _preparing(_by_low_bits)),
    _fault("mapping-of-the-model", "Prefixes of hints are looked up in the model's mapping.", "NNHAL-EXTENSION-005",
           "compilation_hints.prefix_of_the_call", extended(_MappingOfTheModel)),
    _fault("huge-value-kills", "A hint of 64 KiB ends the process.", "NNHAL-PREPARE-020", _IGNORED,
           extended(_DiesOfHugeHints)),
    _fault("many-fail", "There may be 64 hints.", "NNHAL-PREPARE-020", _IGNORED, _preparing(_many)),
    _fault("empty-value-fails", "A hint without a value is an argument error.", "NNHAL-PREPARE-020", _IGNORED,
           _preparing(_empty)),
    _fault("mapping-alone-fails", "A mapping needs hints.", "NNHAL-PREPARE-020", _IGNORED, _preparing(_mapped_only)),
    _fault("negative-fails-generally", "A negative token ends in GENERAL_FAILURE.", "NNHAL-PREPARE-020", _IGNORED,
           _preparing(_negative, _GENERAL)),
    _fault("none-fails", "A configuration needs hints.",
           "NNHAL-PREPARE-018", "compilation_hints.none", _preparing(_none)),
    _fault("models-unchecked", "Zero points of models that come with a configuration are not checked.",
           "NNHAL-PREPARE-018", "compilation_hints.of_invalid_models", extended(_CorrectsZeroPoints)),
    _fault("refusal-unnotified", "A refused model that comes with a configuration is not notified.",
           "NNHAL-PREPARE-018", "compilation_hints.of_invalid_models", extended(_RefusesWithoutNotifying)),
    _fault("unknown-fails-execution", "An execution hint of an unknown extension is an argument error.",
           "NNHAL-EXECUTE-013", _EXECUTION, _failing(_unknown)),
    _fault("invalid-fails-execution", "An invalid execution hint of an own extension is an argument error.",
           "NNHAL-EXECUTE-013", f"{_OWN_EXECUTION} {_EXECUTION}", _failing(_invalid)),
    _fault("valid-fails-execution", "A valid execution hint of an own extension is an argument error.",
           "NNHAL-EXECUTE-013", _OWN_EXECUTION, _failing(_valid)),
    _fault("huge-value-kills-execution", "An execution hint of 64 KiB ends the process.",
           "NNHAL-EXECUTE-013", _EXECUTION, _failing(_huge, IndexError("beyond the buffer"))),
    _fault("execution-by-low-bits", "Execution hints are known by the low bits of their tokens.", "NNHAL-EXECUTE-013",
           _EXECUTION, _failing(_by_low_bits)),
    _fault("execution-skipped", "A hint like a count, of whatever extension, saves the execution.", "NNHAL-EXECUTE-013",
           f"{_EXECUTION} {_OWN_EXECUTION}", _skipping(_like_a_count)),
    _fault("execution-needs-hints", "A configuration without hints is an argument error.", "NNHAL-EXECUTE-012",
           "execution_hints.none", _failing(_none)),
    _fault("refusal-is-failure", "A bad request with a configuration ends in GENERAL_FAILURE.", "NNHAL-EXECUTE-012",
           "execution_hints.refusals", _executing(_called_failures)),
)  # fmt: skip
"""Faults in hints."""


class _Disregards(ExtendedDevice):
    """Ignores every hint (NNHAL-PREPARE-021)."""

    def hinted(self, model: types.Model, config: types.PrepareModelConfig) -> types.PrepareModelConfig:
        return replace(config, compilation_hints=(), extension_name_to_prefix=())


class _RefusesBrokenRules(FaultyPreparedModel):
    """Rejects executions with hints that a client must not send."""

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, *rest: Any
    ) -> types.ExecutionResult:
        if _breaks_rules(config.execution_hints, config.extension_name_to_prefix):
            raise ServiceError(_INVALID, "hints that break the rules")
        return self.inner.execute_synchronously_with_config(request, config, *rest)


class _Strict(_ServesConfigurations):
    """Rejects what a client must not send: tokens or mappings twice, negative tokens, prefixes that are too large."""

    prepared_model = _RefusesBrokenRules

    def hinted(self, model: types.Model, config: types.PrepareModelConfig) -> types.PrepareModelConfig:
        if _breaks_rules(config.compilation_hints, config.extension_name_to_prefix):
            raise ServiceError(_INVALID, "hints that break the rules")
        return config


class _Careful(ExtendedDevice):
    """Supports no operation of a model that maps an unknown extension."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        known = {extension.name for extension in self.inner.get_supported_extensions()}
        is_known = all(one.name in known for one in model.extension_name_to_prefix)
        return (
            answers if is_known or any(one.type > 0xFFFF for one in model.main.operations) else (False,) * len(answers)
        )


VARIANTS = (
    *(
        Variant(
            f"two-extensions-{version.value}",
            f"The reference with its extensions at HAL {version.value}.",
            extended(ExtendedDevice),
            version,
        )
        for version in (Version.V1_2, Version.V1_3, Version.FL5)
    ),
    Variant("two-extensions", "The reference with its extensions.", extended(ExtendedDevice)),
    Variant("one-extension", "The reference with one of its extensions.", extended(ExtendedDevice, count=1)),
    Variant("hints-disregarded", "No hint is looked at.", extended(_Disregards)),
    Variant("hints-strict", "Hints that a client must not send are refused.", extended(_Strict)),
    Variant("unknown-mapping-declined", "Nothing is supported beside an unknown extension.", extended(_Careful)),
)
"""Conforming variants with extensions; those without any are all the others."""
