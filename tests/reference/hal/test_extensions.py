"""The reference's own extensions: sound catalogues, registered where a process is its own; hints are only hints."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.cli.main import main
from npu_conformance.corpus import extensions
from npu_conformance.faults import kill_matrix, registry
from npu_conformance.harness.judge.outcome_table import OK
from npu_conformance.harness.run import selection
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.device.tensors import OutputInfo, Tensor
from npu_conformance.reference.extensions import hints, kernels, own
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.neuralnetworks import registered_extensions
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, TokenValuePair
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.structure_models import with_operand, with_operations

FIBONACCI, ECHO = own.CATALOGUES
NAME = "com.npu_conformance.fibonacci"
WORDS = ("--catalogue", str(FIBONACCI), "--catalogue", str(ECHO))
COUNT = struct.pack("<q", 5)


@pytest.fixture
def registered() -> Iterator[None]:
    with extensions.registered(own.CATALOGUES):
        yield


def listed(*options: str, isolation: str = "process") -> list[str]:
    given = dict(option.split("=") for option in options)
    subject = open_subject("reference", given, isolation)  # type: ignore[arg-type]
    try:
        device = subject.interfaces.device
        assert device is not None
        return [extension.name for extension in device.get_supported_extensions()]
    finally:
        subject.close()


def test_both_catalogues_are_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalogue", "check", str(FIBONACCI)]) == OK
    assert main(["catalogue", "check", str(ECHO), "--catalogue", str(FIBONACCI)]) == OK
    assert capsys.readouterr().out.count("nothing is wrong") == 2


@pytest.mark.parametrize("version", ["1.2", "fl8"])
def test_the_reference_passes_the_cases_of_its_catalogues(version: str, tmp_path: Path) -> None:
    words = ("run", "vts.extension", "--plugin", "reference", "--hal", version, "-q", "--report", str(tmp_path))
    assert main([*words, *WORDS]) == OK
    results = msgspec.json.decode((tmp_path / "results.json").read_bytes(), type=Results)
    assert {case.outcome.value for case in results.cases} == {"pass"}
    assert len(results.cases) > 20


def test_a_shared_process_learns_of_no_extension() -> None:
    assert listed(isolation="inprocess") == []
    assert registered_extensions.all_registered() == ()


def test_a_shared_process_has_those_that_are_registered_there(registered: None) -> None:
    assert listed(isolation="inprocess") == [NAME, models.ECHO]


def test_an_option_says_how_many_there_are() -> None:
    assert listed() == [NAME, models.ECHO]
    assert listed("extensions=one") == [NAME]
    assert listed("extensions=none") == []


def test_the_models_of_the_cases_are_sound(registered: None) -> None:
    for model in (models.fibonacci(1, 3), models.dequantize(0x7FFF, 3), models.echo(4, b""), models.foreign(2, 1, 3)):
        for version in (Version.V1_2, NEWEST):
            assert validate_model(model, version) == []


def test_the_validator_knows_types_and_operations_of_registered_extensions(registered: None) -> None:
    model = models.fibonacci(1, 3)
    (operation,) = model.main.operations
    broken = {
        "MODEL.O1": with_operand(model, 0, type=models.code(1, 9)),
        "MODEL.O2": with_operand(model, 0, dimensions=(1,)),
        "MODEL.P1": with_operations(model, replace(operation, type=models.code(1, 9))),
    }
    for rule, wrong in broken.items():
        assert validate_model(wrong, NEWEST)[0].clause == rule
    assert all(violation.clause != "MODEL.O2" for violation in validate_model(model, NEWEST))


def test_what_no_int64_holds_is_saturated() -> None:
    tiny = struct.pack("<dq", 5e-324, 7)
    count = Tensor(0, numpy.array(3, numpy.int64))
    with numpy.errstate(over="ignore"):  # as the executor does
        (numbers,) = kernels.fibonacci([count], [OutputInfo(1, (3,), extension=tiny)])
    assert numbers.tolist() == [7, 2**63 - 1, 2**63 - 1]


HINT = TokenValuePair(models.code(3, 0), COUNT)
MAPPING = (ExtensionNameAndPrefix(NAME, 3),)
UNKNOWN = (ExtensionNameAndPrefix("com.vendor.one", 3),)
BECAME = {
    "valid": ((HINT,), MAPPING, ["followed"]),
    "unmapped": ((HINT,), (), ["ignored"]),
    "unknown_extension": ((HINT,), UNKNOWN, ["ignored"]),
    "unknown_number": ((TokenValuePair(models.code(3, 1), COUNT),), MAPPING, ["ignored"]),
    "too_short": ((TokenValuePair(HINT.token, COUNT[:7]),), MAPPING, ["ignored"]),
    "out_of_range": ((TokenValuePair(HINT.token, bytes(8)),), MAPPING, ["ignored"]),
    "twice": ((HINT, HINT), MAPPING, ["ignored", "ignored"]),
    "prefix_twice": ((HINT,), MAPPING + UNKNOWN, ["ignored"]),
    "negative": ((TokenValuePair(-1, COUNT),), MAPPING, ["ignored"]),
    "prefix_0": ((TokenValuePair(0, COUNT),), (ExtensionNameAndPrefix(NAME, 0),), ["ignored"]),
    "marked_concurrent": ((TokenValuePair(9 << 16, b""), HINT), MAPPING, ["ignored", "followed"]),
}


@pytest.mark.parametrize("name", BECAME)
def test_hints_are_followed_where_they_are_understood(
    name: str, registered: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given, mapping, expected = BECAME[name]
    monkeypatch.setenv(vlog.VARIABLE, "execution")
    vlog.enabled_tags.cache_clear()
    try:
        hints.take("execution", given, mapping)
    finally:
        vlog.enabled_tags.cache_clear()
    assert [line.split()[-1] for line in capsys.readouterr().err.splitlines()] == expected


def test_a_hint_of_an_extension_that_is_not_registered_is_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    kernels.sequence.cache_clear()
    hints.take("execution", (HINT,), MAPPING)
    assert kernels.sequence.cache_info().currsize == 0


def test_a_hint_that_is_followed_computes_numbers_beforehand(registered: None) -> None:
    kernels.sequence.cache_clear()
    hints.take("compilation", (HINT,), MAPPING)
    assert kernels.sequence.cache_info().currsize == 1


FAULTS = [name for name in registry.faults() if name.startswith(("extension-", "hint-"))]
CASES = selection.select(selection.Wanted(("vts.extensions", "vts.structure"))).cases


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_in_extensions_and_hints_is_caught(name: str) -> None:
    row = kill_matrix.run_fault(registry.faults()[name], CASES)
    assert row.is_caught, row


VARIANTS = [name for name in registry.conforming() if name.startswith(("two-ext", "one-ext", "hints-", "unknown-map"))]


@pytest.mark.parametrize("name", VARIANTS)
def test_conforming_variants_with_extensions_are_green(name: str) -> None:
    row = kill_matrix.run_variant(registry.conforming()[name], CASES)
    assert row.is_green, row
