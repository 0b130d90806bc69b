"""Rules of operations: clauses about values, shapes and quantisation, and the shapes of outputs. One module each."""

import functools
import importlib
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import extension_modules
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.registered_extensions import (
    RegisteredExtension,
    all_registered,
    cached_while_registered,
)
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Rules
from npu_conformance.specs.neuralnetworks.violations import Violation


def operations() -> tuple[str, ...]:
    """Names of the operations that have rules, in order of their codes; those of registered extensions come last."""
    return (*_operations(), *_registered())


def has(name: str) -> bool:
    """True for an operation that has rules."""
    return name in _registered() or name in _operations()


def of_extension(extension: RegisteredExtension, operation: str) -> Rules | None:
    """The rules that the folder of an extension has for an operation. Raises DocumentError."""
    path = extension.file("rules", operation)
    if not path.exists():
        return None
    found = extension_modules.attribute(extension, "rules", operation, "RULES")
    if not isinstance(found, Rules):
        raise DocumentError(str(path), "RULES", f"expected rules(...), found a {type(found).__name__}")
    for clause in found.clauses:
        if not clause.id.startswith(f"{operation}."):
            raise DocumentError(str(path), "RULES", f"the clauses are of {operation}, found {clause.id}")
    checked = tuple(replace(one, check=extension_modules.guarded(one.check, path)) for one in found.clauses)
    return replace(found, clauses=checked, output_shapes=extension_modules.guarded(found.output_shapes, path))


def clauses(name: str) -> tuple[Clause, ...]:
    """The clauses of an operation in order of their ids; raises LookupError for one without rules."""
    return _rules(name).clauses


def reads_data(name: str) -> bool:
    """True where clauses look at values of data, too, not at shapes and parameters alone."""
    return _rules(name).reads_data


def check(view: OperationView) -> list[Violation]:
    """Return a violation for each clause the operation breaks; none for an operation without rules.

    Operands whose types fit no signature are not looked at: they are MODEL.P3's.
    """
    if view.signature is None:
        return []
    found = []
    for clause in _known_clauses(view.name):
        message = clause.check(view)
        if message is not None:
            found.append(Violation(clause.id, f"{view.name}: {message}"))
    return found


def output_shapes(view: OperationView) -> tuple[tuple[int, ...], ...]:
    """Return the shape of each output in the spelling of operands: 0 and () where size or rank is not known yet."""
    shapes = view.once(_rules(view.name).output_shapes)
    return tuple(() if shape is None else tuple(size or 0 for size in shape) for shape in shapes)


@cached_while_registered()
def _known_clauses(name: str) -> tuple[Clause, ...]:
    """The clauses of an operation; none of one without rules."""
    return clauses(name) if has(name) else ()


@cached_while_registered()
def _rules(name: str) -> Rules:
    return _registered().get(name) or _stored_rules(name)


@cached_while_registered()
def _registered() -> dict[str, Rules]:
    """Rules of operations of registered extensions, by name."""
    named = ((name, of_extension(extension, name)) for extension in all_registered() for name in extension.operations)
    return {name: found for name, found in named if found is not None}


@functools.cache
def _operations() -> dict[str, None]:
    """The names in order of their codes, quick to look up."""
    modules = {path.stem.upper() for path in Path(__file__).parent.glob("*.py")}
    return {member.name: None for member in OperationType if member.name in modules}


@functools.cache
def _stored_rules(name: str) -> Rules:
    if name not in _operations():
        raise LookupError(f"{name} has no rules")
    # Importing a module binds its name here too, so that names such as `cast` or `slice` must not be used above.
    found: Rules = importlib.import_module(f"{__name__}.{name.lower()}").RULES
    return found
