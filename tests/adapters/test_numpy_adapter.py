"""examples/numpy_adapter.py of docs/adapters.md passes what it has; and what is made of the names of engines."""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
import warm_python
from places import ROOT

from npu_conformance.adapters.engine import NO_CALLEES, Engine, Lowered, engine_plugin
from npu_conformance.adapters.engine_executor import EngineExecutor
from npu_conformance.faults.self_checks.fakes import stored_model
from npu_conformance.harness.subject.plugin_loading import LoadError, load_plugin
from npu_conformance.reference.device.executor import UNLIMITED
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.versions import Version

EXAMPLE = ROOT / "examples" / "numpy_adapter.py"


@dataclass(frozen=True)
class Named(Engine):
    """An engine without operations."""

    label: str

    @property
    def name(self) -> str:
        return self.label

    def version(self) -> str:
        return "1"

    def has(self, operation_type: int) -> bool:
        return False

    def lower(self, *_: object, callees: object = NO_CALLEES) -> Lowered:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("label", "instance"), [("numpy", "numpy-cpu"), ("numpy-npu", "numpy_npu-cpu"), ("a-b-c", "a_b_c-cpu")]
)
def test_the_device_of_an_engine_is_named_with_one_hyphen(label: str, instance: str) -> None:
    manifest = engine_plugin(Named(label), vendor="Example").describe({})
    assert (manifest.name, manifest.instance) == (label, instance)


@pytest.mark.parametrize("label", ["", "NumPy", "numpy npu", "-numpy", "n" * 65])
def test_an_engine_name_that_no_manifest_can_have_is_refused_in_one_line(label: str) -> None:
    with pytest.raises(LoadError, match=rf"^engine name '{label}': expected .*letter or digit first$"):
        engine_plugin(Named(label), vendor="Example").describe({})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("NumpyEngine", r"is the class NumpyEngine, not .*engine_plugin\(NumpyEngine\(\), vendor="),
        (
            "made",
            r"is a NumpyEngine, not .*; npu_conformance\.adapters\.engine\.engine_plugin\(ENGINE,",
        ),
    ],
)
def test_an_engine_that_is_no_plug_in_says_how_it_becomes_one(
    monkeypatch: pytest.MonkeyPatch, given: str, told: str
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    example = importlib.import_module("numpy_adapter")
    monkeypatch.setattr(example, "made", example.NumpyEngine(), raising=False)
    with pytest.raises(LoadError, match=told):
        load_plugin(f"numpy_adapter:{given}")


def test_an_output_of_a_type_that_does_not_lie_in_memory_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    example = importlib.import_module("numpy_adapter")
    monkeypatch.setitem(example.KERNELS, OperationType.ADD, lambda one, other: (one + other).astype(numpy.float64))
    model = stored_model("ADD", "float32_all_bits", "")
    executor = EngineExecutor(model, Version.V1_2, (), example.NumpyEngine())
    with pytest.raises(TypeError, match="numpy-npu returned float64 for output 0, expected float32"):
        executor.run([numpy.zeros((3, 5), numpy.float32)] * 2, UNLIMITED)


def test_the_example_passes_what_it_has(tmp_path: Path) -> None:
    chosen = "instance.name or generated.ADD.float32 or generated.MUL.int32 or generated.TANH.float"
    chosen += " or structure.O13D.may_refuse_unknown_size or histories.driver.types"  # what numpy refuses
    command = ("-m", "npu_conformance", "run", "vts", "-k", chosen, "--plugin", "numpy_adapter:plugin")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLE.parent), str(ROOT / "src")])}
    result = warm_python.run(*command, "--report", str(tmp_path), env=environment)
    assert result.returncode == 0, result.stdout
    found = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    results = [event["result"] for event in found if event["event"] == "case-finished"]
    passed = {result["case"] for result in results if result["outcome"] == "pass"}
    assert {"vts.queries.instance.name", "vts.generated.TANH.float32_rank1"} <= passed, sorted(passed)
    assert len(passed) > 40


def test_the_page_shows_the_example_as_it_is() -> None:
    assert f"```python\n{EXAMPLE.read_text()}```" in (ROOT / "docs" / "adapters.md").read_text()
