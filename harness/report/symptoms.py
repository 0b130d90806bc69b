"""Groups red verdicts by operation and cause: many failures of one cause are one symptom, shown before its cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from npu_conformance.harness.judge.outcome_table import counts_as, word
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.harness.report.lines import attribution, first_reason
from npu_conformance.harness.report.rule import concerned
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Outcome

_SHOWN, _NAMED = 5, 3
_BY_HAND = ".by_hand"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_CONFIGURATION = re.compile(r"^#\S+: ")
_KIND_FOUND = re.compile(r"\bactual -?(?:nan|inf)\b|, found [A-Z]{3}[A-Z_]*")
_PARTICULARS = re.compile(r", found |; ")
_SHORT = re.compile(r"(?:[A-Za-z_]+(?: [A-Za-z_]+){0,2}|\(?[-+.\d, ]*\d,?\)?)(?=; |$)")
"""What was found, where many cases may have found the same: a status, a few words, numbers."""
_CLAUSE = re.compile(r"\b([A-Z][A-Z0-9_]*)\.C\d+\b")


class Cause(NamedTuple):
    """What red cases of one cause have in common. text: the message without the numbers.

    operation: where what broke is a rule of one operation; empty for a rule that all operations share.
    """

    ended: str
    operation: str
    text: str


class Symptom(msgspec.Struct):
    """Red cases of one cause. outcome: what they count as; word: how they ended, in a word."""

    outcome: Outcome
    word: str
    cases: list[CaseResult] = msgspec.field(default_factory=list)

    @property
    def text(self) -> str:
        """What they all say, with a range for a number in which they differ."""
        return _common([_essence(result) for result in self.cases])

    def line(self, paint: Paint = plain) -> str:
        """How many cases, what they say, which operations or requirements, and which types."""
        who = Counter(_operation(result) for result in self.cases)
        types = Counter(kind for result in self.cases for kind in _types(result))
        words = "; ".join(filter(None, (_most(who), _most(types))))
        told = f"{len(self.cases):>5} {paint(self.word, self.outcome.value)}: {self.text}"
        return f"{told} ({words})" if words else told


def cause(result: CaseResult) -> Cause:
    """Return what a red case has in common with others of the same cause."""
    return Cause(word(result.outcome, result.dispositions), _own_rule(result), _NUMBER.sub("0", _essence(result)))


def grouped(red: Iterable[CaseResult]) -> list[Symptom]:
    """The symptoms of red cases, the most frequent first; their cases in the order given.

    Those that were worked out by hand stand first: their descriptions say how the expected values come about.
    """
    found: dict[Cause, Symptom] = {}
    for result in red:
        why, shown = cause(result), counts_as(result.outcome, result.dispositions)
        found.setdefault(why, Symptom(shown, why.ended)).cases.append(result)
    for symptom in found.values():
        symptom.cases.sort(key=lambda result: _BY_HAND not in result.case)
    return sorted(found.values(), key=lambda symptom: -len(symptom.cases))


def split(symptoms: Sequence[Symptom]) -> tuple[Sequence[Symptom], Sequence[Symptom]]:
    """Those that are told at once, the most frequent, and the others: none, or two and more."""
    shown = len(symptoms) if len(symptoms) == _SHOWN + 1 else _SHOWN
    return symptoms[:shown], symptoms[shown:]


def lines(symptoms: Sequence[Symptom], paint: Paint = plain, *, whole: bool = False) -> Iterator[str]:
    """A line for each of the most frequent symptoms, and how many cases have others; nothing where there are none.

    whole: a line for each symptom.
    """
    shown, others = (symptoms, ()) if whole else split(symptoms)
    if symptoms:
        yield "what is wrong, most frequent first:"
    yield from (f"  {symptom.line(paint)}" for symptom in shown)
    if others:
        yield f"  {sum(len(symptom.cases) for symptom in others):>5,} others, of {len(others):,} causes"


def _own_rule(result: CaseResult) -> str:
    """The operation whose own rule broke; empty where the rule is not that of one operation.

    A clause that a message names is told by its text: other operations may have the same.
    """
    operation, said = result.operation, _said(result)
    if _stated(said) != said:
        return ""
    requirement = next(iter(concerned(result)), "")
    return operation if operation and f"-{operation}-" in requirement else ""


def _essence(result: CaseResult) -> str:
    """What a case says first, with the text of a clause for its id."""
    return _stated(_said(result))


def _said(result: CaseResult) -> str:
    """What a case says first, without the configuration and what is particular to the case."""
    reason = reason_of(result)
    particular = _PARTICULARS.search(reason)
    if particular is None:
        return reason
    found = _SHORT.match(reason, particular.end()) if particular[0].startswith(", found") else None
    return reason[: found.end() if found else particular.start()]


def _stated(text: str) -> str:
    return _CLAUSE.sub(lambda found: _text_of(found[1], found[0]) or found[0], text)


def _text_of(operation: str, clause: str) -> str:
    """The text of a clause, in quotation marks; empty where the clause is not known here."""
    from npu_conformance.specs.neuralnetworks import rules

    try:
        texts = {one.id: one.text for one in rules.clauses(operation)}
    except LookupError:  # of an extension whose catalogue is not in use, or of another version of the suite
        return ""
    text = texts.get(clause, "").removesuffix(".")
    return f'"{text if text[1:2].isupper() else text[:1].lower() + text[1:]}"' if text else ""


def likeness(reason: str) -> tuple[str, str]:
    """What reasons of one kind have in common: the words without numbers, and the status or what else than a number was
    found.
    """
    text = _CONFIGURATION.sub("", reason.partition("\n")[0])
    return _NUMBER.sub("0", _PARTICULARS.split(text, maxsplit=1)[0]), "".join(_KIND_FOUND.findall(text)[:1])


def reason_of(result: CaseResult) -> str:
    """The first thing that explains a verdict, without the configuration that it is from."""
    return _CONFIGURATION.sub("", first_reason(result))


def _common(texts: Sequence[str]) -> str:
    """The texts, alike but for numbers, as one."""
    numbers = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    words = _NUMBER.split(texts[0])
    return words[0] + "".join(_range(values) + word for values, word in zip(numbers, words[1:], strict=True))


def _range(numbers: Sequence[str]) -> str:
    least, most = min(numbers, key=float), max(numbers, key=float)
    return least if least == most else f"{least}..{most}"


def _types(result: CaseResult) -> list[str]:
    """The types of a case but for those that the device refuses wherever it is asked for them."""
    models = [*result.refused, *(model for part in result.configurations for model in part.refused)]
    refused = {kind for model in models for use in model if not use.supported for kind in use.types}
    refused.difference_update(*result.executed.values())
    return [kind for kind in result.types if kind not in refused]


def _operation(result: CaseResult) -> str:
    return result.operation or attribution(result)


def _most(counted: Counter[str]) -> str:
    """The most frequent names, and how many more there are."""
    names = ", ".join(name for name, _ in counted.most_common(_NAMED))
    return f"{names} and {len(counted) - _NAMED} more" if len(counted) > _NAMED else names
