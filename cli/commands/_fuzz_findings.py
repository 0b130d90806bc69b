"""What becomes of the findings and the corpus of a campaign."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from npu_conformance.cli.commands._output import print_json
from npu_conformance.cli.errors import UsageError
from npu_conformance.fuzz.lib.campaign.documents import CorpusLine, Finding, RoundLine, Settings
from npu_conformance.fuzz.lib.campaign.folder import (
    CORPUS,
    FINDINGS,
    FINDINGS_FOLDER,
    ROUNDS,
    SETTINGS,
    UNMERGED,
    CampaignFolder,
    is_in_use,
    read_lines,
    require_own,
    settings_of,
)
from npu_conformance.fuzz.lib.findings import DEFECT, KINDS
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.harness.report.shown_run import Section
from npu_conformance.specs.diagnostics import shell
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.failures import PROMOTED

PAGE = "report.html"


def triage(folder: Path, *, as_json: bool) -> int:
    """List the findings, the gravest kind first; return WRONG where there is one."""
    _require_campaign(folder)
    findings = sorted(read_lines(folder / FINDINGS, Finding), key=lambda found: (KINDS.index(found.kind), found.where))
    seen: Counter[str] = Counter()
    for line in read_lines(folder / ROUNDS, RoundLine):
        seen.update(line.repeats)
    # What was met again behind the latest finding of a place is counted there; those before it passed by then.
    latest = {found.signature: found.name for found in sorted(findings, key=lambda found: found.at)}
    repeats = Counter({latest[name]: count for name, count in seen.items() if name in latest})
    if as_json:
        import msgspec

        rows = [(msgspec.to_builtins(found), found) for found in findings]
        print_json(
            [{**row, "repeats": repeats[one.name], "mended": latest[one.signature] != one.name} for row, one in rows]
        )
        return WRONG if findings else OK
    for kind in KINDS:
        _print_kind(folder, [found for found in findings if found.kind == kind], repeats, latest)
    print(counted(len(findings), "finding") if findings else "no findings")
    return WRONG if findings else OK


def _print_kind(folder: Path, findings: list[Finding], repeats: Counter[str], latest: dict[str, str]) -> None:
    for found in findings:
        again = repeats[found.name]
        seen = f"seen {again + 1} times" if again else "seen once"
        if latest[found.signature] != found.name:
            seen = "passed when another was found in this place"
        print(f"{found.kind}: {found.where} ({found.fuzzer}, at {found.at:.0f} s, {found.bytes} bytes, {seen})")
        print(f"    {found.message}")
        print(f"    {folder / FINDINGS_FOLDER / found.name}")


def report(folder: Path) -> Path:
    """Write the page of a campaign into its folder, and return its path."""
    from npu_conformance import __version__
    from npu_conformance.cli.commands._output import write_text
    from npu_conformance.fuzz.lib.campaign import page

    write_text(folder / PAGE, page.document(*_campaign(folder), __version__))
    return folder / PAGE


def section(folder: Path) -> Section:
    """A campaign as a section of a run's page. Raises UsageError where none has run there."""
    from npu_conformance.fuzz.lib.campaign import page

    return page.section(*_campaign(folder))


def _campaign(folder: Path) -> tuple[Settings, list[RoundLine], list[Finding]]:
    _require_campaign(folder)
    rounds, findings = list(read_lines(folder / ROUNDS, RoundLine)), list(read_lines(folder / FINDINGS, Finding))
    return settings_of(folder), rounds, findings


def promote(folder: Path, name: str, to: Path) -> int:
    """Copy the file of a finding to where `--vectors` finds it as a case."""
    _require_campaign(folder)
    known = sorted(path.name for path in (folder / FINDINGS_FOLDER).glob("*.json"))
    file = f"{Path(name).name.removesuffix('.json')}.json"
    if file not in known:
        raise UsageError(f"{name}: {folder} has no such finding; it has {', '.join(known) or 'none'}")
    if any(found.name == file and found.kind == DEFECT for found in read_lines(folder / FINDINGS, Finding)):
        raise UsageError(f"{name}: a mistake of this suite, which says nothing about any plug-in: please report it")
    target = to / f"{file.removesuffix('.json')}{PROMOTED}"
    content = (folder / FINDINGS_FOLDER / file).read_bytes()
    try:
        to.mkdir(parents=True, exist_ok=True)
        if target.exists() and target.read_bytes() != content:
            raise UsageError(f"{target}: another finding was promoted by this name; move it, or take another folder")
        target.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be promoted: {error.strerror}") from None
    print(f"{target}: a case of `npu-conformance run 'fuzz.*.promoted.*' --vectors {shell.quoted(str(to))} --plugin P`")
    return OK


def minimise(folder: Path) -> int:
    """Drop the inputs of every corpus that show nothing that others do not."""
    _require_campaign(folder)
    campaign = CampaignFolder(folder, settings_of(folder))
    try:
        for index in sorted((folder / CORPUS).glob("*.jsonl")):
            before = sum(1 for _ in read_lines(index, CorpusLine))
            after = campaign.minimise(index.stem)
            print(f"{index.stem}: {counted(before, 'input')}, {after} kept")
    finally:
        campaign.close()
    return OK


def _require_campaign(folder: Path) -> None:
    if not (folder / SETTINGS).exists():
        raise UsageError(f"{folder}: no campaign has run there")
    require_own(folder)
    if (folder / UNMERGED).exists() and not is_in_use(folder):  # a campaign was killed
        CampaignFolder(folder, settings_of(folder)).close()
