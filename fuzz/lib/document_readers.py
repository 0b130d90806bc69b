"""The readers of documents that the suite has, each with what comes right after: checks, judging, telling.

A specification file of AOSP is a program, which runs in a child of its own: its reader is not among them.
"""

from __future__ import annotations

import contextlib
import datetime
import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from npu_conformance.corpus import extensions, vectors
from npu_conformance.corpus.extensions import checking
from npu_conformance.corpus.importers.tflite import importing
from npu_conformance.corpus.importers.tflite.errors import UnsupportedModelError
from npu_conformance.corpus.zoo import manifest as zoo
from npu_conformance.fuzz.lib import document_seeds as seeds
from npu_conformance.fuzz.lib.campaign import folder as campaign
from npu_conformance.fuzz.lib.campaign import page
from npu_conformance.harness.judge import claims, waivers
from npu_conformance.harness.report import badge, comparison, table
from npu_conformance.harness.run import (
    baseline,
    budget,
    events,
    expression,
    failures,
    partition,
    replay,
    results,
    suites,
)
from npu_conformance.harness.subject import inference_tool
from npu_conformance.specs import documents, manifest
from npu_conformance.specs.documents.failures import PROMOTED
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu import scenario

_TODAY = datetime.date(2027, 1, 1)
_OPERATION = re.compile(rb'"operation":\s*"([A-Z0-9_]{1,60})"')
_PART = re.compile(r"(extension|(operations|vectors)/[a-z0-9_]{1,60})\.json")

Place = Callable[[bytes, Path], Path | None]
"""Puts a document into a folder; returns what the reader is given, None for what is no such document."""


def named(name: str) -> Callable[[bytes, Path], Path]:
    """Puts the document into a file of this name."""

    def place(data: bytes, folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    return place


@dataclass(frozen=True)
class Reader:
    """One reader. read: raises DocumentError; what it returns are lines for people. seeds: documents of its kind.

    is_binary: documents are base64 in inputs.
    """

    name: str
    read: Callable[[Path], Iterable[str] | None]
    seeds: Callable[[], Sequence[bytes]]
    place: Place
    is_binary: bool = False


def _manifest(path: Path) -> None:
    claims.check_names(documents.read(path, Manifest))


def _claims(path: Path) -> None:
    claims.check_names(msgspec.structs.replace(seeds.MANIFEST, claims=manifest.read_claims(path)))


def _waivers(path: Path) -> Iterator[str]:
    found = waivers.load_all([path], _TODAY)
    judged = [found.apply(verdict) for verdict in seeds.VERDICTS]
    for verdict in judged:
        found.tolerances(verdict.case, verdict.requirements)
    yield from found.problems(found.uses(judged))


def _failure(path: Path) -> Iterator[str]:
    case = replay.rebuild(failures.load(path))
    yield case.description


def _results(path: Path) -> Iterator[str]:
    found = results.read(path)
    before = msgspec.json.decode(seeds.result_files()[0], type=type(found))
    runs = [comparison.ComparedRun("before", before), comparison.ComparedRun("now", found)]
    badge.badge(found)
    yield from table.lines(found)
    yield from comparison.lines(comparison.compared(runs, baseline.is_regression))
    known = baseline.load(path, found.digests, found.hal_version)
    known.compare([known.mark(verdict) for verdict in seeds.VERDICTS])


def _events(path: Path) -> Iterator[str]:
    log = events.read_log(path)
    results.build(log)
    yield from log.problems


def _from_outside(path: Path) -> Iterator[str]:
    """The cases of `run --vectors PATH`, and their descriptions, as `list` prints them."""
    try:
        for case in suites.external([path]):
            yield case.description
    finally:
        vectors.forget()


def _named_by_operation(data: bytes, folder: Path) -> Path:
    found = _OPERATION.search(data)
    return named(f"{found[1].decode().lower() if found else 'add'}.json")(data, folder)


def _packed(data: bytes, folder: Path) -> Path:
    return named("V1_0.jsonl.gz")(gzip.compress(data, 1, mtime=0), folder)


def _packed_seeds() -> list[bytes]:
    return [gzip.compress(line, 9, mtime=0) for line in seeds.collections()]


def _folder(data: bytes, folder: Path) -> Path | None:
    """The files of an object, by their paths."""
    try:
        files = msgspec.json.decode(data, type=dict[str, Any])
        encoded = {name: msgspec.json.encode(content) for name, content in files.items() if _PART.fullmatch(name)}
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    for name, content in encoded.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def _extension(folder: Path) -> Iterator[str]:
    problems = extensions.examine(folder)
    yield from map(str, problems)
    if not problems:
        with extensions.registered([folder]) as (extension,):
            yield from checking.problems(extension)


def _tflite(path: Path) -> Iterator[str]:
    try:
        importing.read(path)
    except UnsupportedModelError as error:
        yield from str(error).split("\n", len(error.lines))


def _scenario(path: Path) -> None:
    scenario.check(documents.read(path, scenario.Scenario), path.name)


def _zoo(path: Path) -> None:
    zoo.zoo.__wrapped__(path)


def _campaign(path: Path) -> None:
    campaign.settings_of(path.parent)


def _campaign_folder(name: str) -> Place:
    """Puts the document into a campaign's folder under this name."""

    def place(data: bytes, folder: Path) -> Path:
        (folder / campaign.CORPUS).mkdir()
        (folder / campaign.SETTINGS).write_bytes(seeds.campaigns()[0])
        (folder / name).write_bytes(data)
        return folder

    return place


def _campaign_lines(folder: Path) -> Iterator[str]:
    """What `fuzz` goes on with, `fuzz minimise` and the page."""
    settings = campaign.settings_of(folder)
    with contextlib.closing(campaign.CampaignFolder(folder, settings)) as opened:
        yield from opened.damaged
        opened.corpus(seeds.FUZZER)
        opened.minimise(seeds.FUZZER)
        page.document(settings, opened.rounds, opened.findings, "1")


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="surrogateescape")


def _expression(path: Path) -> None:
    expression.compile_expression(_text(path))("vts.generated.PAD.quant8_x")


def _budget(path: Path) -> None:
    budget.parse_budget(_text(path))


def _shard(path: Path) -> None:
    partition.parse_shard(_text(path))


def _tool(path: Path) -> None:
    inference_tool.given_tool(_text(path), None)


def _word(name: str, read: Callable[[Path], None]) -> Reader:
    return Reader(name, read, lambda: seeds.TEXTS[name], named("words"))


READERS: tuple[Reader, ...] = (
    Reader("manifest", _manifest, seeds.manifests, named("manifest.json")),
    Reader("claims", _claims, seeds.claims, named("claims.json")),
    Reader("waivers", _waivers, seeds.waivers, named("waivers.json")),
    Reader("failure", _failure, seeds.failures, named("failure.json")),
    Reader("promoted", _from_outside, seeds.promoted, named(f"x{PROMOTED}")),
    Reader("results", _results, seeds.result_files, named("results.json")),
    Reader("events", _events, seeds.events, named("events.jsonl")),
    Reader("vectors", _from_outside, seeds.vector_files, _named_by_operation),
    Reader("collection", _from_outside, seeds.collections, _packed),
    Reader("packed", _from_outside, _packed_seeds, named("V1_0.jsonl.gz"), is_binary=True),
    Reader("extension", _extension, seeds.extensions, _folder),
    Reader("scenario", _scenario, seeds.scenarios, named("scenario.json")),
    Reader("zoo", _zoo, seeds.zoos, named("models.json")),
    Reader("campaign", _campaign, seeds.campaigns, named("campaign.json")),
    Reader("rounds", _campaign_lines, seeds.rounds, _campaign_folder(campaign.ROUNDS)),
    Reader("findings", _campaign_lines, seeds.findings, _campaign_folder(campaign.FINDINGS)),
    Reader("corpus", _campaign_lines, seeds.corpora, _campaign_folder(f"{campaign.CORPUS}/{seeds.FUZZER}.jsonl")),
    Reader("tflite", _tflite, seeds.models, named("model.tflite"), is_binary=True),
    _word("expression", _expression),
    _word("budget", _budget),
    _word("shard", _shard),
    _word("tool", _tool),
)
