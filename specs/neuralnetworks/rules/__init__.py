"""Rules of operations: clauses about values, shapes and quantisation, and the shapes of outputs. One module each."""

import functools
import importlib
from pathlib import Path

from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Rules
from npu_conformance.specs.neuralnetworks.violations import Violation

_OWN: dict[str, Rules] = {}
"""Rules of operations of extensions in use, by name."""


def operations() -> tuple[str, ...]:
    """Names of the operations that have rules, in order of their codes; those of extensions in use come last."""
    return (*_operations(), *_OWN) if _OWN else _operations()


def add_own(name: str, own: Rules) -> None:
    """Make the rules of an extension's operation known."""
    _OWN[name] = own


def remove_own(name: str) -> None:
    """Forget the rules of an extension's operation, where it has some."""
    _OWN.pop(name, None)


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
    if view.signature is None or view.name not in operations():
        return []
    found = []
    for clause in clauses(view.name):
        message = clause.check(view)
        if message is not None:
            found.append(Violation(clause.id, f"{view.name}: {message}"))
    return found


def output_shapes(view: OperationView) -> tuple[tuple[int, ...], ...]:
    """Return the shape of each output in the spelling of operands: 0 and () where size or rank is not known yet."""
    shapes = view.once(_rules(view.name).output_shapes)
    return tuple(() if shape is None else tuple(size or 0 for size in shape) for shape in shapes)


def _rules(name: str) -> Rules:
    return _OWN[name] if name in _OWN else _stored_rules(name)


@functools.cache
def _operations() -> tuple[str, ...]:
    modules = {path.stem.upper() for path in Path(__file__).parent.glob("*.py")}
    return tuple(member.name for member in OperationType if member.name in modules)


@functools.cache
def _stored_rules(name: str) -> Rules:
    if name not in _operations():
        raise LookupError(f"{name} has no rules")
    # Importing a module binds its name here too, so that names such as `cast` or `slice` must not be used above.
    found: Rules = importlib.import_module(f"{__name__}.{name.lower()}").RULES
    return found
