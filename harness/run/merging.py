"""One run of the shards of several machines, from their report folders: the verdict is that of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.harness.run import failures, resuming, shards
from npu_conformance.harness.run.events import EventLog, Log
from npu_conformance.harness.run.folders import EVENTS, FAILURES
from npu_conformance.harness.run.partition import parse_shard
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseFinished, CaseLeftOut, Event, RunFinished, RunStarted


def read(folders: Sequence[Path]) -> dict[Path, Log]:
    """Read all shards of one run, in their order. DocumentError where one is missing, or is of another run."""
    logs = {folder: shards.read_run(folder) for folder in folders}
    found = {_number(folder, log): folder for folder, log in logs.items()}
    count = next(iter(found))[1]
    for (number, total), folder in found.items():
        if total != count:
            raise DocumentError(str(folder), "", f"is shard {number} of {total}, where the first one is of {count}")
    given = Counter(_number(folder, logs[folder]) for folder in folders)
    if twice := [f"{number}/{total}" for (number, total), times in given.items() if times > 1]:
        raise DocumentError("the folders", "", f"shard {' and '.join(twice)} was given more than once")
    if missing := [f"{number}/{count}" for number in range(1, count + 1) if (number, count) not in found]:
        which = f"shard {missing[0]} is" if len(missing) == 1 else f"shards {', '.join(missing)} are"
        raise DocumentError("the folders", "", f"{which} missing: nothing is known about the cases there")
    ordered = [found[number, count] for number in range(1, count + 1)]
    for folder in ordered[1:]:
        _require_same(ordered[0], logs[ordered[0]], folder, logs[folder])
    return {folder: logs[folder] for folder in ordered}


def merge(logs: Mapping[Path, Log], folder: Path, plugin: str) -> Log:
    """Write the events and failure files of the whole into a folder, and return what it recorded.

    plugin: the options that name it, for replay commands.
    """
    whole = Log(
        headers=[_header(list(logs.values()))], problems=[line for log in logs.values() for line in log.problems]
    )
    whole.results = {name: result for log in logs.values() for name, result in log.results.items()}
    whole.left_out = {name: reason for log in logs.values() for name, reason in log.left_out.items()}
    whole.footer = _footer(list(logs.values()))
    with closing(EventLog(folder / EVENTS)) as file:
        for event in _events(whole):
            file.write(event)
    for shard in logs:
        for failure in sorted((shard / FAILURES).glob("*.json")):
            try:
                failures.copy(failure, folder / FAILURES, plugin)
            except DocumentError as error:  # one that was spoilt costs itself; what it was about has its verdict
                whole.problems.append(str(error))
    return whole


def _events(whole: Log) -> Iterator[Event]:
    yield whole.header
    yield from (CaseFinished(result=result) for result in whole.results.values())
    yield from (CaseLeftOut(case=name, reason=reason) for name, reason in whole.left_out.items())
    if whole.footer is not None:
        yield whole.footer


def _number(folder: Path, log: Log) -> tuple[int, int]:
    shard = log.header.selection.shard
    if not shard:
        raise DocumentError(str(folder), "", "this run was whole: expected one with --shard")
    return parse_shard(shard)


def _require_same(first: Path, log: Log, folder: Path, other: Log) -> None:
    pairs = zip(resuming.identity(_comparable(log.header)), resuming.identity(_comparable(other.header)), strict=True)
    for (name, there), (_, here) in pairs:
        if here != there:
            rule = f"is not a shard of the run of {first}: {name}: {here or 'none'} here, {there or 'none'} there"
            raise DocumentError(str(folder), "", rule)


def _comparable(header: RunStarted) -> RunStarted:
    return replace(header, cases=(), selection=replace(header.selection, shard=""))


def _header(logs: Sequence[Log]) -> RunStarted:
    first = logs[0].header
    return replace(
        first,
        cases=tuple(name for log in logs for name in log.header.cases),
        selection=replace(first.selection, shard=""),
        time=min(log.headers[0].time for log in logs),
        resumed=False,
    )


def _footer(logs: Sequence[Log]) -> RunFinished | None:
    """How the whole ended; None where a shard was cut off."""
    footers = [log.footer for log in logs if log.footer is not None]
    if len(footers) < len(logs):
        return None
    worst = next((footer for footer in footers if footer.ending != "complete"), footers[0])
    counts = Counter(result.outcome.value for log in logs for result in log.results.values())
    return replace(worst, counts=dict(counts), seconds=max(footer.seconds for footer in footers))
