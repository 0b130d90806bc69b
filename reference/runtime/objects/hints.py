"""Attributes of vendor extensions that compilations and executions take (FW-EXT-008)."""

from __future__ import annotations

from npu_conformance.reference.runtime.app_memory import bytes_behind
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, TokenValuePair


class Hints:
    """The attributes that were given so far."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._values: dict[int, bytes] = {}

    def add(self, extension_name: str, attribute_code: int, data: Pointer | None, length: int) -> None:
        """Take an attribute. Raises BAD_DATA for one that was given before."""
        token = self._environment.extensions.code(extension_name, attribute_code)
        if token in self._values:
            raise bad_data(f"attribute {attribute_code} of {extension_name} was given before")
        self._values[token] = b"" if data is None else bytes(bytes_behind(self._environment.pools, data, length))

    def pairs(self) -> tuple[TokenValuePair, ...]:
        """The attributes in the form in which drivers get them."""
        return tuple(TokenValuePair(token, value) for token, value in self._values.items())

    def extensions(self) -> tuple[ExtensionNameAndPrefix, ...]:
        """The extensions that they belong to."""
        return self._environment.extensions.used(self._values)
