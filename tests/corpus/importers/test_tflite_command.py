"""`npu-conformance vectors import-tflite`, and docs/importing-tflite.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason="LiteRT is not installed")

from places import ROOT
from tflite_files import File

from npu_conformance.cli.main import main
from npu_conformance.corpus.importers.tflite.errors import UnsupportedModelError
from npu_conformance.corpus.importers.tflite.importing import import_model
from npu_conformance.corpus.importers.tflite.operators.table import OPERATORS
from npu_conformance.specs import documents
from npu_conformance.specs.documents.vectors import VectorDocument

PAGE = ROOT / "docs/importing-tflite.md"
LAST = 209
"""The newest operator of LiteRT 2.3."""
ROW = ("INT8", (1, 3), 0.5, -3)


def recurrent_file(*, extra: str = "") -> bytes:
    file = File()
    graph = file.main
    given = graph.input(*ROW)
    real = graph.operator("DEQUANTIZE", [given], ("FLOAT32", (1, 3)))
    parts = [graph.constant("FLOAT32", value) for value in ([[1, 2, 3]] * 2, [[1, 0], [0, 1]], [0.5, 1])]
    state = graph.tensor("FLOAT32", (1, 2), variable=True)
    result = graph.operator("RNN", [real, *parts, state], ("FLOAT32", (1, 2)), "RNN", fusedActivationFunction=1)
    if extra:
        result = graph.operator(extra, [result], ("FLOAT32", (1, 2)))
    return file.pack(result)


def test_a_model_is_described_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "rnn.tflite", tmp_path / "rnn.json"
    source.write_bytes(recurrent_file())
    assert main(("vectors", "import-tflite", str(source), "--out", str(out))) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "rnn: HAL 1.3, 2 operations"
    assert re.fullmatch(r"input \w+: INT8\[1, 3\] scale 0\.5 zero point -3 \(t0\)", lines[1])
    assert re.fullmatch(r"output \w+: FLOAT32\[1, 2\] \(t6\)", lines[2])
    assert re.fullmatch(r"state \w+ -> \w+: \[1, 2\]", lines[3])
    document = documents.read(out, VectorDocument)
    assert [operation.type for operation in document.operations] == ["DEQUANTIZE", "RNN"]
    assert json.loads(out.read_text())["since"] == "1.3"


def test_a_model_that_cannot_be_expressed_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "rnn.tflite"
    source.write_bytes(recurrent_file(extra="CEIL"))
    assert main(("vectors", "import-tflite", str(source))) == 1
    assert capsys.readouterr().err == f"{source}: operator 2 CEIL of subgraph 0: NNAPI has no counterpart\n"


def test_a_broken_file_is_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "short.tflite"
    source.write_bytes(recurrent_file()[:100])
    assert main(("vectors", "import-tflite", str(source))) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(source) in line


def test_without_litert_the_message_says_what_to_install(tmp_path: Path) -> None:
    source = tmp_path / "rnn.tflite"
    source.write_bytes(recurrent_file())
    program = (
        "import sys; sys.modules['ai_edge_litert'] = None\n"
        "from npu_conformance.cli.main import main\n"
        "sys.exit(main(('vectors', 'import-tflite', sys.argv[1])))"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(source)], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert 'pip install "npu-conformance[litert]' in ended.stderr


def refused_operators() -> set[str]:
    """Asked of the importer itself, one operator after the other."""
    from ai_edge_litert.schema_py_generated import BuiltinOperator

    numbers = {name: number for name, number in vars(BuiltinOperator).items() if isinstance(number, int)}
    names = {name for name, number in numbers.items() if number <= LAST}
    asked = names - set(OPERATORS) - {"CALL_ONCE", "CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"}
    return {name for name in asked if not name.startswith("STABLEHLO") and is_refused(name)}


def is_refused(name: str) -> bool:
    file = File()
    graph = file.main
    made = graph.operator(name, [graph.input("FLOAT32", (2,))], ("INT32", () if name == "RANK" else (1,)))
    try:
        import_model(file.pack(made), "made.tflite")
    except UnsupportedModelError as error:
        return f"operator 0 {name} of subgraph 0" in error.lines[0]
    return False


def test_the_page_names_the_operators_that_are_refused() -> None:
    (listed,) = re.findall(r"<!-- refused -->\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    wanted = textwrap.fill(", ".join(sorted(refused_operators())), 120) + "\n"
    assert listed == wanted


def test_the_program_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.tflite").write_bytes(recurrent_file())
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found: dict[str, object] = {}
    exec(program, found)
    assert type(found["model"]).__name__ == "TfliteModel"
