"""Names of the NPU Manager that cross the wire as text: names.json of the kit, and a chapter of its page."""

from __future__ import annotations

from npu_conformance.specs.npu import types

_PERMISSIONS = {
    types.PERMISSION: "To use the manager (NPU-ACC-004).",
    types.DUMP_PERMISSION: "To dump what it knows.",
    types.ATTRIBUTION_PERMISSION: "Work may be attributed to other uids: canAttributeOtherUid of a SchedulingConfig.",
}
_FLAGS = {
    types.Flag.ENABLED: "The service exists (NPU-ACC-003).",
    types.Flag.BLOCK_MISSING_FEATURE: "Apps without the feature have no direct access (NPU-ACC-007, -010), "
    f"where they target API {types.BLOCKING_SDK} or later.",
    types.Flag.UNLOAD_REASON: "Unload requests carry their reason (NPU-LIF-018).",
}


def names() -> dict[str, dict[str, str] | dict[str, dict[str, str]]]:
    """Each name with what it means; of a metric its fields, of a field what number it has."""
    return {
        "services": {types.SERVICE: "The manager, of managerControl.getSystemService."},
        "permissions": dict(_PERMISSIONS),
        "flags": {flag.value: f"{text} On by default." for flag, text in _FLAGS.items()},
        "metrics": dict(types.ATOMS),
    }


def page() -> str:
    """The names as a chapter of the page of methods."""
    lines: list[str] = []
    for kind, found in names().items():
        for name, meaning in found.items():
            told = f"Due {types.ATOMS_DUE[name]}. {_fields(meaning)}" if isinstance(meaning, dict) else meaning
            lines.append(f"| {kind.removesuffix('s')} | `{name}` | {told} |")
    return _BEGINNING + "\n".join(lines) + "\n"


_BEGINNING = """## Names of the NPU Manager

What `managerControl` names, and the records of `takeMetrics` (Atom) with their fields.
The kit has them in `names.json`.

| what | name | meaning |
| --- | --- | --- |
"""


def _fields(fields: dict[str, str]) -> str:
    alike: dict[str, list[str]] = {}
    for name, text in fields.items():
        alike.setdefault(text, []).append(f"`{name}`")
    return "; ".join(f"{', '.join(found)}: {text}" for text, found in alike.items())
