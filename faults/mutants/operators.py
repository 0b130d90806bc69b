"""The edits: each makes one small change to one node of a function's syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip
_FUNCTIONS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "maximum": "minimum", "minimum": "maximum",
    "trunc": "floor", "sum": "max", "mean": "sum", "exp": "expm1", "clip": "maximum", "ones": "zeros",
    "repeat": "tile", "isfinite": "isnan", "prod": "sum",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One edit of one module. statement: the first line of the statement around it. tree: the edited module."""

    module: str
    line: int
    statement: int
    edit: str
    tree: ast.Module

    @property
    def id(self) -> str:
        """How lists of equivalent mutants name it: what it changes, not where the line is."""
        return f"{self.module}: {self.edit}"


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a module: edits inside functions, docstrings and messages left alone."""
    tree = ast.parse(source)
    statements = _statements(tree)
    for place, change in _spots(tree):
        edited = copy.deepcopy(tree)
        node = _node(edited, place)
        before, context = ast.unparse(node), _context(edited, node)
        replaced = change(node)
        if replaced is not node:
            _put(edited, place, replaced)
        after = ast.unparse(replaced)
        ast.fix_missing_locations(edited)
        line = getattr(node, "lineno", 0)
        yield Mutant(
            module, line, statements.get(line, line), f"{context}: {_short(before)} -> {_short(after)}", edited
        )


def _statements(tree: ast.Module) -> dict[int, int]:
    """For each line the first line of its innermost statement."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    return {line: start for start, end in ordered for line in range(start, end + 1)}


_Place = tuple[tuple[str, int | None], ...]
_Change = Callable[[ast.AST], ast.AST]


def _spots(tree: ast.Module) -> Iterator[tuple[_Place, _Change]]:
    for place, node in _inside_functions(tree, (), False):
        for change in _changes(node):
            yield place, change


def _inside_functions(node: ast.AST, place: _Place, inside: bool) -> Iterator[tuple[_Place, ast.AST]]:
    """Nodes of function bodies with their places; annotations, decorators and what is only said are skipped."""
    if inside:
        yield place, node
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
        return
    skipped = {"annotation", "returns", "decorator_list"}
    for name, value in ast.iter_fields(node):
        if name in skipped or (isinstance(node, ast.Expr) and isinstance(value, ast.Constant)):
            continue
        within = inside or (isinstance(node, ast.FunctionDef | ast.Lambda) and name == "body")
        if isinstance(value, ast.AST):
            yield from _inside_functions(value, (*place, (name, None)), within)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _inside_functions(item, (*place, (name, index)), within)


def _changes(node: ast.AST) -> Iterator[_Change]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        yield _other_comparison
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield _other_arithmetic
    elif isinstance(node, ast.BoolOp):
        yield _other_connective
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield _negated
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield _without_operator
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield _plus_one
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield _other_bool
    elif isinstance(node, ast.Call) and _called(node) in _FUNCTIONS:
        yield _other_function


def _other_comparison(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    return node


def _other_arithmetic(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BinOp)
    node.op = _ARITHMETIC[type(node.op)]()
    return node


def _other_connective(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _negated(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.If | ast.IfExp | ast.While)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node


def _without_operator(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.UnaryOp)
    return node.operand


def _plus_one(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int | float)
    node.value = node.value + 1
    return node


def _other_bool(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    node.value = not node.value
    return node


def _other_function(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Call)
    name = _FUNCTIONS[_called(node)]
    if isinstance(node.func, ast.Attribute):
        node.func.attr = name
    elif isinstance(node.func, ast.Name):
        node.func.id = name
    return node


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _node(tree: ast.AST, place: _Place) -> ast.AST:
    for name, index in place:
        value = getattr(tree, name)
        tree = value if index is None else value[index]
    return tree


def _put(tree: ast.AST, place: _Place, new: ast.AST) -> None:
    parent = _node(tree, place[:-1])
    name, index = place[-1]
    if index is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[index] = new


def _context(tree: ast.Module, wanted: ast.AST) -> str:
    """The name of the innermost function around a node."""
    found = "?"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(inner is wanted for inner in ast.walk(node)):
            found = node.name
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:97]}..."
