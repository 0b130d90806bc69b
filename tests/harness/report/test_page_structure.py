"""The page as a browser and a screen reader take it: whole, in order, self-contained, harmless and small."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from made_runs import CRASHES, EVERYTHING, MIXED, WAIVERS, case, html, latency, measured, waiver
from msgspec.structs import replace
from pages import Page, section

from npu_conformance.harness.report.templating import figure
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, Measurement
from npu_conformance.specs.outcomes import Disposition, Outcome

HOSTILE = (
    "</pre><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'-alert(1)-'", "{{ 7 * 7 }} {% raw %}",
    "\x00\x1b[31m\x7f\x85", "\u202eevil\u2066\u2028", "</script><!--", "&lt;b&gt;", "w" * 5000, "\udcff",
)  # fmt: skip


@pytest.fixture(scope="module")
def everything() -> Page:
    return Page(html(EVERYTHING, waivers=WAIVERS))


def test_every_section_is_there_and_has_its_link(everything: Page) -> None:
    names = [each.attributes["id"] for each in everything.all("section") if "id" in each.attributes]
    assert names == [
        "failures", "excused", "latency", "accuracy", "crash-tests", "npu-timeline", "operations", "requirements",
        "waivers", "quality", "cases",
    ]  # fmt: skip
    links = [each.attributes["href"] for each in everything.all("a") if "nav" in each.parents]
    assert links == [f"#{name}" for name in names]


def test_what_has_no_data_is_absent() -> None:
    page = Page(html([case("PAD.a")]))
    names = [each.attributes["id"] for each in page.all("section") if "id" in each.attributes]
    assert names == ["operations", "requirements", "cases"]
    assert [each.tag for each in Page(html([])).all("section") if "id" in each.attributes] == []


def test_ids_are_unique_and_what_names_them_finds_them(everything: Page) -> None:
    ids = [each.attributes["id"] for each in everything.elements if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    named = [
        value
        for each in everything.elements
        for key, value in each.attributes.items()
        if key in ("aria-labelledby", "for") or (key == "href" and value.startswith("#"))
    ]
    assert {name.removeprefix("#") for name in named} <= set(ids)


def test_headings_stand_in_order_and_landmarks_are_there(everything: Page) -> None:
    levels = [int(each.tag[1]) for each in everything.elements if re.fullmatch("h[1-6]", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for landmark in ("header", "nav", "main", "footer"):
        assert len(list(everything.all(landmark))) == 1


def test_every_table_has_a_caption_and_every_heading_its_scope(everything: Page) -> None:
    tables, captions = list(everything.all("table")), list(everything.all("caption"))
    assert len(tables) == len(captions) > 8
    assert {each.attributes.get("scope") for each in everything.all("th")} == {"col", "row"}


def test_every_chart_has_a_name_and_a_table_behind_it(everything: Page) -> None:
    charts = [each for each in everything.all("svg") if "figure" in each.parents]
    drawn = [each.attributes["class"] for each in charts]
    assert {name: drawn.count(name) for name in drawn} == {"wide": 3, "narrow": 3, "fixed": 2}
    assert all(each.attributes["role"] == "img" and each.attributes["aria-label"] for each in charts)
    assert all(
        each.attributes["aria-hidden"] == "true" for each in everything.all("svg") if "figure" not in each.parents
    )
    numbers = section(everything, "latency")
    for number in ("1.8", "2.4", "0.75", "13.77 to 14.77", "18.46"):
        assert number in numbers


def test_nothing_is_loaded(everything: Page) -> None:
    loading = {"link", "img", "iframe", "object", "embed", "video", "audio", "source", "base", "form", "use", "image"}
    assert not loading.intersection(each.tag for each in everything.elements)
    keys = {key for each in everything.elements for key in each.attributes}
    assert not {key for key in keys if key in ("src", "srcset", "data", "action", "xlink:href") or key.startswith("on")}
    links = [each.attributes["href"] for each in everything.all("a") if not each.attributes["href"].startswith("#")]
    assert links == ["https://bugs.example/1", "https://bugs.example/1"]
    style = next(everything.all("style")).text
    assert not re.search(r"@import|url\(|@font-face", style)
    policies = [each.attributes["content"] for each in everything.all("meta") if "http-equiv" in each.attributes]
    assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")


def test_what_a_crash_test_measures_is_a_cost() -> None:
    slower = Measurement(subject="digits", name="slowdown", unit="percent", value=12.0)
    page = Page(html([replace(CRASHES[1], measurements=(slower,))]))
    assert "slowdown" in section(page, "latency")
    assert "accuracy" not in [each.attributes.get("id") for each in page.all("section")]


def test_it_can_be_read_without_javascript(everything: Page) -> None:
    hidden = [each for each in everything.elements if "hidden" in each.attributes]
    assert [each.attributes["id"] for each in hidden] == ["filter-row"]
    rows = [each for each in everything.all("tr") if "data-r" in each.attributes]
    assert len(rows) == len(EVERYTHING)


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_words_are_text(words: str) -> None:
    parts = (ConfigurationResult(name=words, outcome=Outcome.CRASH, message=words, stderr=words),)
    verdicts = [
        *MIXED,
        case(f"PAD.{words}", Outcome.FAIL, message=words, expected=words, found=words, requirements=(words,)),
        case("PAD.d", dispositions=(Disposition.QUALITY_WARNING,), warnings=(words,)),
        CaseResult(case=f"mlts.x.{words}", outcome=Outcome.CRASH, requirements=("ML-CRS-001",), configurations=parts),
        measured("latency.x", latency(words, 1.0), latency(words, 2.0, words)),
    ]
    text = html(verdicts, waivers=[waiver("*", owner=words, reason=words, link=words)], hal_version=words)
    page = Page(text)
    plain = Page(html([*MIXED, *verdicts[-3:]], waivers=[waiver("*")]))
    assert {each.tag for each in page.elements} <= {each.tag for each in plain.elements}
    assert len(list(page.all("script"))) == 2
    assert not {key for each in page.elements for key in each.attributes if key.startswith("on")}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\ud800-\udfff]", text)
    text.encode()


def test_what_cannot_be_seen_is_told_by_its_code() -> None:
    assert "found \\x1b[31m\\u202e" in html([case("PAD.a", Outcome.FAIL, message="found \x1b[31m\u202e")])


def test_a_waiver_says_whose_it_is_how_long_it_holds_and_whether_it_was_needed(everything: Page) -> None:
    rows = {row[0]: row for row in everything.rows("waivers")}
    requirement = "NNHAL-OPERATION-PAD-RESULT"
    assert rows["vts.generated.PAD.c"][1:5] == [requirement, "ada", "2030-06-01", "1 of 1"]
    assert "matches none of the selected cases" in rows["vts.generated.PAD.z"][5]
    assert rows["vts.generated.PAD.*"][1:5] == [requirement, "eve", "2029-12-31", "0 of 3"]
    assert "expired on 2029-12-31" in rows["vts.generated.PAD.*"][5]


def test_a_crash_test_counts_its_clients_by_how_they_ended(everything: Page) -> None:
    rows = {row[0]: row for row in everything.rows("crash-tests")}
    assert rows[CRASHES[0].case][1:7] == ["✗ crash", "1", "0", "1", "1", "0"]
    assert rows[CRASHES[1].case][1:7] == ["✓ pass", "1", "0", "0", "0", "0"]
    assert "client_3: hang: no report within 20 s" in section(everything, "crash-tests")


def test_a_requirement_stands_with_its_sentence_its_source_and_what_its_cases_say(everything: Page) -> None:
    row = next(each.text for each in everything.all("tr") if each.text.startswith("NNHAL-OPERATION-PAD-RESULT"))
    assert "MUST" in row
    assert "✗ 1 crash, 1 fail, 1 pass" in row
    assert "PAD computes what the operation catalogue describes" in row
    assert "AOSP OperationType.aidl, PAD" in row


def test_a_requirement_of_nobody_is_told_as_unknown() -> None:
    text = section(Page(html([case("PAD.a", requirements=("NNHAL-NO-SUCH",))])), "requirements")
    assert "NNHAL-NO-SUCH" in text
    assert "unknown to this version of the suite" in text


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (
            [case("ADD.a"), case("PAD.a", Outcome.NOT_SUPPORTED)],
            "Everything that applies and is supported passed: 1 of 2 cases.",
        ),
        (
            [case("ADD.a", Outcome.NOT_SUPPORTED)],
            "Nothing that counts is wrong in 1 case, but that does not show conformance.",
        ),
        ([case("PAD.a"), case("PAD.b", Outcome.FAIL)], "1 of 2 cases failed; 1 passed."),
        (
            [case("PAD.a", Outcome.NOT_APPLICABLE), case("PAD.b", Outcome.FAIL), case("PAD.c", Outcome.NOT_SUPPORTED)],
            "1 of 3 cases failed; 0 passed, 2 are not supported or do not apply.",
        ),
        ([case("PAD.a", Outcome.SUITE_ERROR)], "The suite itself did not finish its work."),
    ],
)
def test_the_verdict_is_a_sentence(verdicts: list[CaseResult], sentence: str) -> None:
    assert sentence in next(Page(html(verdicts)).all("header")).text


def test_what_is_waived_is_not_told_as_wrong() -> None:
    text = next(Page(html(MIXED, waivers=[waiver("vts.generated.PAD.*")])).all("header")).text
    assert "of 5 cases failed" not in text
    assert "2 cases waived." in text


def test_the_same_run_makes_the_same_page() -> None:
    assert html(EVERYTHING, waivers=WAIVERS) == html(EVERYTHING, waivers=WAIVERS)


def test_a_page_of_a_default_run_is_small() -> None:
    names = tuple(f"NNHAL-EXECUTE-{number:03}" for number in range(10))
    many = [
        case(f"CONV_2D.float32_same_stride{number}[all_inputs_as_internal]", requirements=names)
        for number in range(27_000)
    ]
    red = [
        case(f"PAD.b{number}", Outcome.FAIL, message="output: " + "expected 3, found 4; " * 20, requirements=names)
        for number in range(2000)
    ]
    assert len(html([*many, *red]).encode()) < 5_000_000


@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": Outcome.NOT_SUPPORTED, "message": "the device does not take it: " + "CONV_2D " * 40},
        {"outcome": Outcome.FAIL, "message": "w" * 1000},
        {"dispositions": (Disposition.QUALITY_WARNING,), "warnings": ("CONV_2D: 300 ULP, allowed 2, " * 5,) * 20},
    ],
)
def test_a_page_of_a_run_in_which_nothing_is_well_is_small_too(fields: dict[str, Any]) -> None:
    names = ("NNHAL-EXECUTE-001", "NNHAL-OPERATION-CONV_2D-RESULT")
    fewer, more = (
        html(
            case(f"CONV_2D.float32_same_stride{number}[all_inputs_as_internal]", requirements=names, **fields)
            for number in range(count)
        )
        for count in (3000, 5000)
    )
    a_case = (len(more.encode()) - len(fewer.encode())) / 2000
    assert len(more.encode()) + 24_000 * a_case < 5_000_000
    assert "Reasons and warnings of the gravest 2,000 cases are shown here" in more


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0"), (0.00012345, "1.23e-04"), (0.94, "0.94"), (12.3456, "12.35"), (48213.7, "48,214")]
)
def test_figures_are_for_people(number: float, told: str) -> None:
    assert figure(number) == told


def test_the_head_names_the_plugin_and_the_version() -> None:
    text = next(Page(html([case("PAD.a")], name="vendor-npu", hal_version="1.3")).all("header")).text
    assert "vendor-npu" in text
    assert "HAL 1.3" in text
