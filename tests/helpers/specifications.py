"""Runs specifications in this process, and inspects the resulting tests."""

from __future__ import annotations

import base64
import textwrap
from typing import Any

import numpy

from npu_conformance.corpus.importers.aosp import expansion, language, naming
from npu_conformance.corpus.importers.aosp.examples import SPECIFICATION

Document = dict[str, Any]

RELU = """
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
model = Model().Operation("RELU", x).To(y)
"""
FEED = "Example({x: [-1.0, 2.0], y: [0.0, 2.0]})"
BARE = f"{FEED}.DisableLifeTimeVariation()"


def expand(text: str, name: str = "spec", version: str | None = "V1_2") -> list[Document]:
    """The tests of a file with this text."""
    specification = naming.begin(name, version)
    exec(compile(textwrap.dedent(text), SPECIFICATION, "exec"), language.namespace())
    return list(expansion.tests(specification))


def names(text: str, **more: Any) -> list[str]:
    return [test["name"] for test in expand(text, **more)]


def operands(test: Document, graph: int = 0) -> dict[str, Document]:
    return {operand["name"]: operand for operand in test["subgraphs"][graph]["operands"]}


def values(data: Document) -> list[Any]:
    if "values" in data:
        return list(data["values"])
    stored = {"float32": "<f4", "float16": "<f2", "bool8": "u1"}[data["dtype"]]
    return list(numpy.frombuffer(base64.b64decode(data["b64"]), stored).tolist())


def fed(test: Document, name: str) -> list[Any]:
    """The values of an input or output."""
    (example,) = test["examples"]
    return values((example["inputs"] | example["outputs"])[str(operands(test)[name]["index"])])
