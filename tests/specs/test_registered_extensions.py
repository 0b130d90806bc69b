"""Registered extensions: one object, added and removed with one call; what was worked out meanwhile is forgotten."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from example_catalogue import CATALOGUE, CLAMP, ORACLE, RULES, TABLE, VECTORS, copied, edited, known

from npu_conformance.corpus import extensions as corpus_extensions
from npu_conformance.corpus import oracles, vectors
from npu_conformance.reference.extensions import own
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue, extensions, registered_extensions, rules
from npu_conformance.specs.neuralnetworks.combinations import combination_of, combination_since
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, Model, Subgraph
from npu_conformance.specs.neuralnetworks.validate_operations import match_types
from npu_conformance.specs.neuralnetworks.validate_scope import ModelUnderValidation
from npu_conformance.specs.versions import NEWEST

FLOATS = (OperandType.TENSOR_FLOAT32, OperandType.FLOAT32, OperandType.FLOAT32)
NAMES = tuple(kind.name for kind in FLOATS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


@contextmanager
def registered(folder: Path) -> Iterator[RegisteredExtension]:
    extension = extensions.read(folder)
    registered_extensions.register(extension)
    try:
        yield extension
    finally:
        registered_extensions.unregister(extension.name)


def test_one_call_makes_an_extension_known_and_one_forgets_it() -> None:
    before = known()
    with registered(CATALOGUE) as extension:
        assert registered_extensions.find(extension.name) is extension
        assert registered_extensions.with_number(extension.number) is extension
        assert catalogue.operation(CLAMP) in extension.tables
        assert CLAMP in rules.operations()
        assert CLAMP in oracles.names()
        assert CLAMP in vectors.registered_operations()
    assert known() == before


def test_reading_a_folder_makes_nothing_known() -> None:
    before = known()
    extensions.read(CATALOGUE)
    assert extensions.examine(CATALOGUE)[1] == corpus_extensions.examine(CATALOGUE) == []
    assert known() == before


def test_no_number_is_given_out_twice() -> None:
    assert extensions.read(CATALOGUE).number != extensions.read(CATALOGUE).number


def _newer(folder: Path) -> None:
    def since_fl6(table: Any) -> None:
        (signature,) = table["signatures"]
        signature["types"] = {"fl6": signature["types"].pop("1.2")}

    edited(folder / TABLE, since_fl6)


def _without_arguments(folder: Path) -> None:
    def alone(table: Any) -> None:
        (signature,) = table["signatures"]
        signature.update(input_counts=[1], inputs=signature["inputs"][:1])

    edited(folder / TABLE, alone)


def _other_vector(folder: Path) -> None:
    edited(folder / VECTORS, lambda document: document["vectors"][0].update(description="another one"))


ANSWERS: dict[str, tuple[Callable[[Path], None], Callable[[], object]]] = {
    "first_version": (_newer, lambda: combination_since(CLAMP, NAMES, NAMES[:1])),
    "combination": (_without_arguments, lambda: combination_of(CLAMP, NAMES, NAMES[:1])),
    "signature": (_without_arguments, lambda: catalogue.find_signature(CLAMP, FLOATS)),
    "positions": (_without_arguments, lambda: catalogue.reading(CLAMP, FLOATS).positions),
    "rules": (lambda folder: (folder / RULES).unlink(), lambda: CLAMP in rules.operations()),
    "oracle": (lambda folder: (folder / ORACLE).unlink(), lambda: CLAMP in oracles.names()),
    "vectors": (lambda folder: (folder / VECTORS).unlink(), lambda: CLAMP in vectors.registered_operations()),
    "header": (_other_vector, lambda: vectors.headers(CLAMP)[0].description),
    "vector": (_other_vector, lambda: vectors.load(CLAMP, "float32").description),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_was_worked_out_is_forgotten_with_the_extension(name: str, folder: Path) -> None:
    edit, answer = ANSWERS[name]
    with registered(folder):
        before = answer()
        assert answer() == before
    edit(folder)
    with registered(folder):
        assert answer() != before


def test_matches_of_types_are_forgotten_too(folder: Path) -> None:
    with registered(folder):
        assert not match_types(catalogue.operation_code(CLAMP), FLOATS, FLOATS[:1], NEWEST).problem
        assert match_types.cache_info().currsize > 0
    assert match_types.cache_info().currsize == 0


def test_an_extensions_type_is_one_kind_to_whoever_validates() -> None:
    """Checks are looked up by the identity of kinds."""
    with registered(own.CATALOGUES[0]) as extension:
        mapping = ExtensionNameAndPrefix(extension.name, 5)
        model = Model(main=Subgraph((), (), (), ()), extension_name_to_prefix=(mapping,))
        for info in extension.types:
            first, second = (
                ModelUnderValidation(model, NEWEST).kind(5 << 16 | int(info.type) & 0xFFFF) for _ in range(2)
            )
            assert first is not None
            assert first is second
        assert extension.types


def test_the_python_files_of_a_folder_are_executed_once(folder: Path) -> None:
    log = folder / "log"
    for file in (RULES, ORACLE):
        with (folder / file).open("a") as text:
            text.write(f"\nwith open({str(log)!r}, 'a') as log: log.write('once ')\n")
    with corpus_extensions.registered([folder, *own.CATALOGUES]):
        assert rules.clauses(CLAMP)
        assert CLAMP in oracles.names()
    assert log.read_text() == "once once "


def test_a_driver_needs_no_oracles(folder: Path) -> None:
    (folder / ORACLE).write_text("raise RuntimeError")
    before = known()
    extension = extensions.register(folder)
    assert extensions.register(folder) is extension
    registered_extensions.unregister(extension.name)
    with pytest.raises(DocumentError, match="RuntimeError"), corpus_extensions.registered([folder]):
        pass
    assert known() == before


def test_every_problem_of_rules_and_oracles_is_found(folder: Path) -> None:
    for file in (RULES, ORACLE):
        (folder / file).write_text("1 / 0")
    assert len(extensions.examine(folder)[1]) == 1
    assert len(corpus_extensions.examine(folder)) == 2


def test_the_reference_has_its_extensions_without_the_corpus() -> None:
    code = (
        "import sys\n"
        "from npu_conformance.reference.extensions import own\n"
        "assert len(own.register()) == 2\n"
        "print([name for name in sys.modules if name.startswith('npu_conformance.corpus')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_an_extension_that_is_needed_and_not_registered_is_named() -> None:
    registered_extensions.require([], "case")
    with pytest.raises(DocumentError, match=r"case: needs the extension com[.]vendor[.]one: give its folder"):
        registered_extensions.require(["com.vendor.one"], "case")
