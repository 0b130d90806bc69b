"""The mutation operators: each makes one small change to one node of a function's syntax tree."""

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


_Place = tuple[tuple[str, int | None], ...]
_Change = Callable[[ast.AST], ast.AST]

_SKIPPED = {"annotation", "returns", "decorator_list"}


@dataclass(frozen=True)
class Mutant:
    """One edit of one module. line: of the edit; statement: the first line of the statement around it."""

    module: str
    line: int
    statement: int
    edit: str
    source: str
    place: _Place
    change: _Change

    @property
    def id(self) -> str:
        """The name in lists of equivalent mutants: what it changes, not where the line is."""
        return f"{self.module}: {self.edit}"

    def tree(self) -> ast.Module:
        """The edited module."""
        tree = ast.parse(self.source)
        node = _node(tree, self.place)
        changed = self.change(node)
        if changed is not node:
            _put(tree, self.place, changed)
        return ast.fix_missing_locations(tree)


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a module: edits inside functions, docstrings and messages left alone."""
    tree = ast.parse(source)
    statements = _statements(tree)
    for place, node, function in _inside_functions(tree, (), ""):
        for change in _changes(node):
            line = getattr(node, "lineno", 0)
            after = change(copy.deepcopy(node))
            edit = f"{function}: {_short(ast.unparse(node))} -> {_short(ast.unparse(after))}"
            yield Mutant(module, line, statements.get(line, line), edit, source, place, change)


def _statements(tree: ast.Module) -> dict[int, int]:
    """For each line the first line of its innermost statement."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    return {line: start for start, end in ordered for line in range(start, end + 1)}


def _inside_functions(node: ast.AST, place: _Place, function: str) -> Iterator[tuple[_Place, ast.AST, str]]:
    """Nodes of function bodies with places and function; annotations, decorators and messages are skipped."""
    if function:
        yield place, node, function
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert) or _is_strictness(node):
        return
    for name, value in ast.iter_fields(node):
        if name in _SKIPPED or (isinstance(node, ast.Expr) and isinstance(value, ast.Constant)):
            continue
        within = _named(node) or function if name == "body" else function
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if isinstance(child, ast.AST):
                step = (name, index if isinstance(value, list) else None)
                yield from _inside_functions(child, (*place, step), within)


def _is_strictness(node: ast.AST) -> bool:
    """True for the `strict` of a zip: an assertion, no part of the computation."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _named(node: ast.AST) -> str:
    """The name of a node that has a function's body; empty for any other node."""
    if isinstance(node, ast.Lambda):
        return "lambda"
    return node.name if isinstance(node, ast.FunctionDef) else ""


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


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:97]}..."
