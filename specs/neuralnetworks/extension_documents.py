"""Strict structs of the catalogue of an extension: what a vendor writes down of an extension of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from npu_conformance.specs.documents import Document

Dtype = Literal[
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"
]
Identifier = Annotated[int, Meta(ge=0, le=0xFFFF)]
CatalogueName = Annotated[str, Meta(pattern=r"^[A-Z][A-Z0-9_]+$(?!\n)", max_length=60)]


class ToleranceDocument(Document, frozen=True):
    """How far an output may be from its expected value: atol + rtol * abs(expected), in stored values."""

    atol: Annotated[float, Meta(ge=0)] = 0.0
    rtol: Annotated[float, Meta(ge=0)] = 0.0


class OperandTypeDocument(Document, frozen=True):
    """An operand type of an extension.

    id: its number in the extension. byte_size: of a scalar or of one element, as getSupportedExtensions says it.
    dtype: the numpy name of an element in vectors. tolerance: of outputs; exact where it is left out.
    """

    name: CatalogueName
    id: Identifier
    is_tensor: bool
    byte_size: Annotated[int, Meta(ge=1)]
    dtype: Dtype
    tolerance: ToleranceDocument = ToleranceDocument()


class ExtensionOperationDocument(Document, frozen=True):
    """An operation of an extension; its table is in operations/. id: its number in the extension."""

    name: CatalogueName
    id: Identifier


class ExtensionDocument(Document, frozen=True):
    """extension.json: the extension's name, its operand types and its operations."""

    name: Annotated[str, Meta(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$(?!\n)", max_length=100)]
    operations: Annotated[tuple[ExtensionOperationDocument, ...], Meta(min_length=1)]
    operand_types: tuple[OperandTypeDocument, ...] = ()
