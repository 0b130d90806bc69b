"""`npu-conformance vectors import-tflite`: says what a .tflite model is in NN HAL, and writes it."""

from __future__ import annotations

import argparse
import json
import sys

from npu_conformance.cli.commands._output import write_text
from npu_conformance.corpus.importers.tflite.errors import UnsupportedModelError
from npu_conformance.corpus.importers.tflite.importing import Port, TfliteModel, read
from npu_conformance.corpus.vectors import writing
from npu_conformance.harness.judge.outcome_table import OK, WRONG


def execute(options: argparse.Namespace) -> int:
    """Import and describe a model; return WRONG, and a line for each reason, where NN HAL cannot express it."""
    try:
        model = read(options.source)
    except UnsupportedModelError as error:
        print(error, file=sys.stderr)
        return WRONG
    if options.out is not None:
        write_text(options.out, json.dumps(writing.document_of(model.vector), indent=1) + "\n")
    print("\n".join(_description(model)))
    return OK


def _description(model: TfliteModel) -> list[str]:
    vector = model.vector
    return [
        f"{vector.name}: HAL {vector.since}, {len(vector.operations)} operations",
        *(f"input {_port(port)}" for port in model.inputs),
        *(f"output {_port(port)}" for port in model.outputs),
        *(f"state {state.input} -> {state.output}: {list(state.initial.shape)}" for state in model.states),
    ]


def _port(port: Port) -> str:
    quantization = f" scale {port.scale:g} zero point {port.zero_point}" if port.scale else ""
    return f"{port.operand}: {port.type}{list(port.shape)}{quantization} ({port.name})"
