"""The models of failure files, of findings of fuzzers, and of cases that make their own, for `vectors show`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from npu_conformance.cli.errors import UsageError
from npu_conformance.specs.diagnostics import shell
from npu_conformance.specs.documents import DocumentError

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector
    from npu_conformance.specs.documents.failures import FailureFile

Form = Literal["json", "text", "dot"]
_FUZZ, _DRAWN, _SHAPES = "fuzz.", "vts.drawn.", "vts.several_shapes."
_NAMED = 5
_SUITES = ("vts.", "cts.", "mlts.", _FUZZ)


class Shown(NamedTuple):
    """A vector. name: of the configuration that executes it; empty where the case has that one alone."""

    name: str
    vector: Vector


def of_file(path: Path, form: Form) -> str:
    """What a failure file, or the file of a finding, has as its model. Raises UsageError where it has none."""
    from npu_conformance.harness.run import failures

    failure = failures.load(path, named=True)
    if failure.case.startswith(_FUZZ) and isinstance(failure.payload, dict) and "lines" in failure.payload:
        return _of_finding(path, failure, form)
    try:
        found = _of_payload(failure.payload)
    except DocumentError:
        raise
    except Exception as error:  # the payload comes from a file: whatever it raises is told of the file
        raise UsageError(f"{path}: $.payload: no model can be made of it: {type(error).__name__}: {error}") from error
    if not found:
        again = f"npu-conformance replay {shell.quoted(str(path))}"
        raise UsageError(f"{path}: {failure.case} has no model of its own; to run it again: {again}")
    return in_form(found, form)


def of_case(name: str) -> list[Shown]:
    """The models that a case makes, or of `case#configuration` that one. Raises UsageError for any other case."""
    case, _, configuration = name.partition("#")
    found = [*_made(case, configuration)]
    if not found:
        raise UsageError(f"{name}: not a case of stored or drawn models; if it failed, DIR/failures has a file to show")
    chosen = [one for one in found if f"{configuration}.".startswith((".", f"{one.name}."))]
    if not chosen:
        names = [one.name for one in found]
        raise UsageError(f"{name}: there are {' '.join(names[:_NAMED])}{' ...' if len(names) > _NAMED else ''}")
    return chosen


def is_case(name: str) -> bool:
    """True for the id of a case."""
    return name.startswith(_SUITES)


def in_form(shown: Sequence[Shown], form: Form) -> str:
    """Vectors as text: JSON of one, or of a list of several; text and graphs one behind the other."""
    if form == "json":
        from npu_conformance.corpus.vectors import writing

        documents = [writing.document_of(one.vector) for one in shown]
        return json.dumps(documents[0] if len(documents) == 1 else documents, indent=1)
    return "\n".join(line for one in shown for line in _lines(one, form))


def _lines(shown: Shown, form: Form) -> Iterator[str]:
    from npu_conformance.corpus import wire_model
    from npu_conformance.specs.neuralnetworks import model_text
    from npu_conformance.specs.versions import NEWEST

    model = wire_model.build_model(shown.vector, NEWEST).model
    if form == "dot":
        yield model_text.dot(model)
        return
    if shown.name:
        yield f"{shown.name}:"
    yield model_text.text(model)
    for number, example in enumerate(shown.vector.examples):
        yield from (f"example {number}: input {name} = {array.tolist()}" for name, array in example.inputs.items())
        yield from (f"example {number}: expected {name} = {array.tolist()}" for name, array in example.outputs.items())


def _of_payload(payload: Any) -> list[Shown]:
    from npu_conformance.harness.run.vector_cases import vector_from

    if not isinstance(payload, dict):
        return []
    if "vector" in payload:
        return [Shown("", vector_from(payload))]
    return [Shown(name, vector_from(one)) for name, one in payload.get("graphs", {}).items()]


def _of_finding(path: Path, failure: FailureFile, form: Form) -> str:
    """The input of a finding: as a model where it is one, else as the lines that it is."""
    import msgspec

    from npu_conformance.fuzz.lib.differential_models import decoded
    from npu_conformance.fuzz.lib.in_words import in_words, model_of
    from npu_conformance.fuzz.lib.inputs import UNREADABLE, Lines
    from npu_conformance.specs.neuralnetworks import model_text

    data, fuzzer = msgspec.convert(failure.payload, Lines).data, failure.case.split(".")[1]
    if fuzzer == "models" and form != "json":
        try:
            return (model_text.text if form == "text" else model_text.dot)(model_of(data))
        except UNREADABLE:
            raise UsageError(f"{path}: its input is no model") from None
    vector = decoded(data) if fuzzer == "differential" else None
    if vector is not None:
        return in_form([Shown("", vector)], form)
    if form == "dot":
        raise UsageError(f"{path}: a finding of {fuzzer} has no model to draw")
    said = in_words(fuzzer, data) if fuzzer == "requests" and form == "text" else ""
    return f"{_of_request(data)}\n{said}" if said else data.decode(errors="replace")


def _of_request(data: bytes) -> str:
    """The vector that a request is for."""
    from npu_conformance.cli.commands import _stored_vectors

    named = json.loads(data)["vector"].replace("/", ".", 1)
    return in_form([Shown("", one) for one in _stored_vectors.named(named)], "text")


def _made(case: str, configuration: str) -> Iterator[Shown]:
    """The models that cases of `vts.drawn` and `vts.several_shapes` make; none for other cases."""
    from npu_conformance.corpus import drawn
    from npu_conformance.specs.versions import NEWEST
    from npu_conformance.vts.lib.turning import KINDS

    operation, _, kind = case.removeprefix(_DRAWN).removeprefix(_SHAPES).partition(".")
    if case.startswith(_DRAWN) and operation in drawn.operations():
        seeds = range(drawn.SEEDS if configuration else 1)
        yield from (Shown(one.name, one) for seed in seeds for one in drawn.models(operation, seed, NEWEST))
    elif case.startswith(_SHAPES):
        finding = next((one for one in KINDS if one.name == kind and one.has(operation)), None)
        yield from (Shown(one.name, one) for one in (finding.find(operation, NEWEST) if finding else ()))
