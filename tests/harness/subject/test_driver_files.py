"""Which files hold the code of a plug-in: another build of it is another subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_conformance.harness.subject.driver_files import code_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "single_npu.py", "a_npu/__init__.py", "a_npu/driver.py", "a_npu/kernels/add.py", "a_npu/_fast.so",
        "a_npu/__pycache__/driver.py", "a_npu/.reports/driver.py", "a_npu/table.bin",
        "vendor_npu/inner/__init__.py", "vendor_npu/inner/driver.py", "vendor_npu/other/driver.py",
        "lib.so.1", "driver.js",
    ):  # fmt: skip
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("raise SystemExit('nobody imports it here')")
    program = tmp_path / "my_driver"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


PACKAGE = ["a_npu/__init__.py", "a_npu/_fast.so", "a_npu/driver.py", "a_npu/kernels/add.py"]


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("single_npu:plugin", ["single_npu.py"]),
        ("a_npu.driver:plugin", PACKAGE),
        ("a_npu:plugin", PACKAGE),
        ("stacked:a_npu.driver:plugin", PACKAGE),
        ("vendor_npu.inner.driver:plugin", ["inner/__init__.py", "inner/driver.py"]),
        ("./lib.so.1", ["lib.so.1"]),
        ("shim:./lib.so.1", ["lib.so.1"]),
        ("exec:./my_driver --speed 3", ["my_driver"]),
        ("exec:./my_driver driver.js", ["my_driver", "driver.js"]),
        ("exec:env driver.js", ["driver.js"]),
        ("exec:env", ["env"]),
        ("exec:'", []),
        ("unix:/tmp/driver", []),
        ("no_such_npu", []),
        ("no_such_npu.driver:plugin", []),
        ("a_npu.gone.driver:plugin", PACKAGE),
    ],
)
def test_the_code_of_a_plug_in(spec: str, names: list[str]) -> None:
    assert [name for name, _ in code_of(spec)] == names
    assert all(path.exists() for _, path in code_of(spec))


@pytest.mark.parametrize(
    ("spec", "folders"),
    [
        ("reference", {"adapters", "reference"}),
        ("litert", {"adapters", "reference"}),
        ("npu_conformance.faults.plugin:plugin", {"adapters", "reference", "faults"}),
    ],
)
def test_a_bundled_plug_in_is_what_it_is_made_of(spec: str, folders: set[str]) -> None:
    names = {name for name, _ in code_of(spec)}
    assert {name.partition("/")[0] for name in names} == folders
    assert "reference/manager/manager.py" in names
