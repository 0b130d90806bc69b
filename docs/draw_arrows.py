"""Draws docs/arrows.svg: which package imports which, read from the imports themselves.

    python docs/draw_arrows.py

The rows are the layers of the import contract in pyproject.toml. An arrow that follows from two others is left out.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "arrows.svg"
SUITES = ("vts", "cts", "fuzz", "mlts")
"""They are found by name where a run wants them (harness/run/suites.py): no import says so."""

_WIDTH, _HEIGHT, _ROW, _MARGIN = 96, 34, 86, 14
Arrows = dict[str, set[str]]


def layers() -> list[list[str]]:
    """The packages, row by row, from the one on top of all down to the contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return [[name.strip() for name in row.split("|")] for row in contracts[0]["layers"]]


def imports(package: str) -> set[str]:
    """The other packages that the modules of a package import.

    The Python files in the catalogue of an extension are no modules: they are read by path, as a vendor's are.
    """
    files = (file for file in (ROOT / package).rglob("*.py") if (file.parent / "__init__.py").exists())
    found = {name for file in files for name in _imported(ast.parse(file.read_text()))}
    return found - {package, ""}


def _imported(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "npu_conformance":
            yield from (alias.name for alias in node.names if not alias.name.startswith("_"))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("npu_conformance."):
            yield node.module.split(".")[1]


def reduced(arrows: Mapping[str, set[str]]) -> Arrows:
    """The arrows without those that follow from two others."""
    return {
        source: {target for target in targets if not any(target in _reached(arrows, other) for other in targets)}
        for source, targets in arrows.items()
    }


def _reached(arrows: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = arrows[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def draw() -> str:
    """The picture, as SVG."""
    rows = layers()
    width = max(map(len, rows)) * (_WIDTH + _MARGIN) + _MARGIN
    places = {name: place for row, names in enumerate(rows) for name, place in _places(names, row, width)}
    arrows = reduced({name: imports(name) for name in places})
    found = sorted((rows[0][0], suite) for suite in SUITES)
    lines = [_arrow(places, source, target, "import") for source in places for target in sorted(arrows[source])]
    lines += [_arrow(places, source, target, "found") for source, target in found]
    boxes = [_box(name, *place) for name, place in places.items()]
    height = len(rows) * _ROW
    return "\n".join([_HEAD.format(width=width, height=height), *lines, *boxes, "</svg>", ""])


def _places(names: list[str], row: int, width: int) -> Iterator[tuple[str, tuple[float, float]]]:
    """The upper left corner of each box of a row, which share its width evenly."""
    share = width / len(names)
    for number, name in enumerate(names):
        yield name, ((number + 0.5) * share - _WIDTH / 2, row * _ROW + _MARGIN)


def _arrow(places: Mapping[str, tuple[float, float]], source: str, target: str, kind: str) -> str:
    (x1, y1), (x2, y2) = places[source], places[target]
    x1, x2, y1 = x1 + _WIDTH / 2, x2 + _WIDTH / 2, y1 + _HEIGHT
    turn = y2 - (_ROW - _HEIGHT)  # straight down past the rows between, and over between the last two
    bend = (turn + y2) / 2
    return f'<path class="{kind}" d="M{x1:g},{y1:g} V{turn:g} C{x1:g},{bend:g} {x2:g},{bend:g} {x2:g},{y2 - 2:g}"/>'


def _box(name: str, x: float, y: float) -> str:
    middle = f'x="{x + _WIDTH / 2:g}" y="{y + _HEIGHT / 2 + 5:g}"'
    box = f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
    return f"{box}<text {middle}>{name}</text>"


_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<title>Which package imports which</title>
<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">
<path d="M0,0 L6,3 L0,6 z" fill="#4a5a6a"/></marker></defs>
<style>
svg {{ background: #fff }} rect {{ fill: #eef3f8; stroke: #4a5a6a }}
text {{ font: 14px sans-serif; text-anchor: middle; fill: #1c2733 }}
path.import, path.found {{ fill: none; stroke: #4a5a6a; marker-end: url(#tip) }}
path.found {{ stroke-dasharray: 4 3; stroke: #9aa7b4 }}
</style>"""


if __name__ == "__main__":
    PICTURE.write_text(draw())
    print(f"written: {PICTURE.relative_to(ROOT)}")
