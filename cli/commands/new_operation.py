"""`npu-conformance new-operation`: lays out the files of an operation, for contributors (CONTRIBUTING.md)."""

from __future__ import annotations

import argparse
import keyword
import re
from pathlib import Path
from string import Template

from npu_conformance.cli.commands import _operation_skeletons as skeletons
from npu_conformance.cli.commands._output import write_text
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK
from npu_conformance.specs.neuralnetworks.enums import OperationType

ROOT = Path(__file__).resolve().parents[2]
"""The checkout that this command is part of."""

SKELETONS = {
    "specs/neuralnetworks/operations/{}.json": skeletons.TABLE,
    "specs/neuralnetworks/rules/{}.py": skeletons.RULES,
    "corpus/oracles/{}.py": skeletons.ORACLE,
    "corpus/generators/{}.py": skeletons.GENERATOR,
    "reference/device/kernels/{}.py": skeletons.KERNEL,
    "faults/kernels/{}.json": skeletons.FAULTS,
}
"""The files that are laid out, in the best order to fill them. `vectors generate` writes the stored vectors."""

_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_NEXT = """
Fill them in this order: until then, whatever needs them fails. Then:
  npu-conformance vectors generate $NAME     writes corpus/vectors/$name.json
  npu-conformance run -k $NAME --plugin reference
  npu-conformance vectors witness $NAME --engine litert --engine tflm --engine onnx --record
  npu-conformance faults --mutants 200 --operation $NAME
  npu-conformance list --update-lock
  npu-conformance vectors table --write docs/operations.md
  pytest tests/test_layout.py                says what is still missing"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("name", metavar="NAME", help="as AOSP spells it: upper case, such as CONV_2D")
    parser.add_argument("--dry-run", action="store_true", help="print which files would be created")


def execute(options: argparse.Namespace) -> int:
    """Lay out the files, or name them, and say what to do next."""
    made = files(options.name, ROOT)
    for path, text in made.items():
        print(f"{'would make' if options.dry_run else 'made'} {path.relative_to(ROOT)}")
        if not options.dry_run:
            write_text(path, text)
    if options.name not in OperationType.__members__:
        print(f"\nFirst add {options.name} to OperationType in specs/neuralnetworks/enums.py.")
    print(Template(_NEXT).substitute(_words(options.name)))
    return OK


def files(name: str, root: Path) -> dict[Path, str]:
    """The files of an operation that has none yet, and what is in them. Raises UsageError."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not the name of an operation: expected upper case as AOSP has it, such as CONV_2D"
        )
    made = {
        root / path.format(name.lower()): Template(text).substitute(_words(name)) for path, text in SKELETONS.items()
    }
    folders = {path.parent for path in made}
    if not (root / "CONTRIBUTING.md").is_file() or not all(folder.is_dir() for folder in folders):
        raise UsageError(f"{root} is no checkout of this project, in which operations are laid out")
    for path in made:
        if path.exists():
            raise UsageError(f"{path.relative_to(root)} is there already: nothing was made")
    return made


def _words(name: str) -> dict[str, str]:
    lower = name.lower()
    function = f"{lower}_" if keyword.iskeyword(lower) else lower
    return {"NAME": name, "name": lower, "function": function, "dashed": lower.replace("_", "-")}
