"""JSON Schemas of documents and messages, generated from the types into schemas/.

msgspec names the first error of a bad document; `explain` lists the others by JSON Schema, following the branch of a
union that the document's tag chooses.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def kinds() -> dict[str, Any]:
    """The types that have a schema, by the schema's name: what a driver or document author meets."""
    from npu_conformance.specs import manifest
    from npu_conformance.specs.documents import failures, results, summary, vectors, waivers, zoo
    from npu_conformance.specs.neuralnetworks import extension_documents, operation_tables, types
    from npu_conformance.specs.npu import scenario
    from npu_conformance.specs.npu import types as npu_types

    return {
        "manifest": manifest.Manifest,
        "operation": operation_tables.OperationTable,
        "extension": extension_documents.ExtensionDocument,
        "waivers": waivers.WaiverFile,
        "event": results.Event,
        "results": summary.Results,
        "failure": failures.FailureFile,
        "vectors": vectors.VectorFile,
        "zoo": zoo.ZooFile,
        "neuralnetworks.model": types.Model,
        "neuralnetworks.request": types.Request,
        "neuralnetworks.capabilities": types.Capabilities,
        "neuralnetworks.execution_result": types.ExecutionResult,
        "npu.scheduling_config": npu_types.SchedulingConfig,
        "npu.work_info": npu_types.WorkInfo,
        "npu.model_load_request": npu_types.ModelLoadRequest,
        "npu.policy_parameters": npu_types.PolicyParameters,
        "npu.scenario": scenario.Scenario,
    }


def generate() -> dict[str, str]:
    """Return the text of every schema file by file name."""
    import msgspec

    texts = {}
    for name, kind in kinds().items():
        (reference,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
        parts = {**reference, "$defs": components}
        schema = {"$schema": DIALECT, "$id": f"npu-conformance/{name}", **_alike(parts)}
        texts[f"{name}.schema.json"] = json.dumps(schema, indent=1, sort_keys=True) + "\n"
    return texts


def _alike(part: Any) -> Any:
    """The same whatever writes it: some versions of Python strip the indentation of docstrings themselves, and msgspec
    also names the members of enumerations that are keys of mappings since 0.23.
    """
    if isinstance(part, list):
        return [_alike(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    return {
        key: inspect.cleandoc(value) if key == "description" and isinstance(value, str) else _alike(value)
        for key, value in part.items()
        if key != "propertyNames" or "pattern" in value
    }


def stale() -> list[str]:
    """Names of schema files that differ from what the types say, or that no type has."""
    wanted = generate()
    present = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.json")}
    return sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))


def write() -> None:
    """Bring schemas/ in step with the types."""
    wanted = generate()
    for path in FOLDER.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, "utf-8")


def explain(document: Any, name: str, most: int = 10) -> list[str]:
    """List up to `most` violations of the schema `name` as `path: rule`, deepest path first where branches compete."""
    import jsonschema

    schema = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(document)
    lines = [f"{error.json_path}: {error.message}" for error in map(_most_relevant, errors)]
    return lines[:most]


def _most_relevant(error: Any) -> Any:
    """Follow a failed union into the branch that got furthest, which is the one its author meant."""
    from jsonschema.exceptions import best_match

    return best_match([error]) or error
