"""What a campaign keeps in its folder, and what becomes of it where others write there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from campaigns import SETTINGS, START, result, sighting
from msgspec.structs import replace

from npu_conformance.fuzz.lib.campaign.documents import (
    Doubt,
    Kept,
    Settings,
    Sighting,
    Unmerged,
)
from npu_conformance.fuzz.lib.campaign.folder import (
    FINDINGS,
    FINDINGS_FOLDER,
    ROUNDS,
    UNMERGED,
    CampaignFolder,
    minimal,
)
from npu_conformance.harness.run import failures
from npu_conformance.harness.run.replay import rebuild
from npu_conformance.specs.documents import DocumentError


def unmerged(seed: int, found: Sighting) -> Unmerged:
    return Unmerged(fuzzer="models", engine="evolution", seed=seed, start=START, sighting=found)


class TestFolder:
    def test_a_finding_has_its_own_time_and_not_that_of_its_rounds_end(self, tmp_path: Path) -> None:
        one = result("models", found=(replace(sighting("SIGSEGV"), after=4.0),))
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(replace(one, start_seconds=2.0, seconds=10.0), 3, 100.0)
        assert [finding.at for finding in folder.findings] == [92.0]

    def test_what_was_written_is_there_again(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        kept = [Kept(data=b"a", features=(1, 2)), Kept(data=b"b", features=(2,)), Kept(data=b"c")]
        first = folder.add(result("models", *kept, found=(sighting("SIGSEGV in driver.run"),)), 3, 1.0)
        assert (first.inputs, first.corpus, first.features) == (2, 2, 2)
        folder.close()
        again = CampaignFolder(tmp_path, SETTINGS)
        assert again.corpus("models") == (kept[0], kept[2])
        assert again.features("models") == {1, 2}
        assert again.known() == {"crash: SIGSEGV in driver.run"}
        assert again.rounds == [first]
        again.close()

    def test_a_finding_is_a_failure_file_of_the_fuzzers_case(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        added = folder.add(result("models", found=(sighting("SIGSEGV", b"{}\nx"),)), 3, 1.0)
        folder.close()
        failure = failures.load(tmp_path / FINDINGS_FOLDER / added.findings[0])
        assert failure.payload == {"lines": ["{}", "x"], "encoding": "utf-8"}
        assert rebuild(failure).id == "fuzz.models.short.runs"
        assert "--plugin driver:plugin" in str(failure.result.notes["replay"])

    def test_what_was_found_beside_another_is_replayed_beside_it(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, replace(SETTINGS, beside="other driver:plugin", hal="1.3"))
        added = folder.add(result("differential", found=(sighting("RELU1"),)), 3, 1.0)
        folder.close()
        failure = failures.load(tmp_path / FINDINGS_FOLDER / added.findings[0])
        assert "--hal 1.3 --beside 'other driver:plugin'" in str(failure.result.notes["replay"])

    def test_a_known_finding_is_not_written_again(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", found=(sighting("SIGSEGV"),)), 3, 1.0)
        assert folder.add(result("models", found=(sighting("SIGSEGV"), sighting("SIGBUS"))), 4, 2.0).findings
        assert [finding.where for finding in folder.findings] == ["SIGSEGV", "SIGBUS"]
        folder.close()

    @pytest.mark.parametrize(
        ("where", "words"),
        [
            (f"{'ab ' * 19}abcd", "-".join(["ab"] * 19)),
            (f"{'ab ' * 19}abc", "-".join(["ab"] * 19 + ["abc"])),
            ("x" * 70, "x" * 60),
        ],
    )
    def test_the_name_of_a_file_has_whole_words(self, where: str, words: str, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", found=(sighting(where),)), 3, 1.0)
        (finding,) = folder.findings
        assert finding.name.removeprefix("models-crash-").rpartition("-")[0] == words
        folder.close()

    def test_two_causes_in_one_place_are_two_files(self, tmp_path: Path) -> None:
        """So that the second can be promoted beside the first, whether or not it comes from the same folder."""
        folder = CampaignFolder(tmp_path / "one", SETTINGS)
        first = folder.add(result("models", found=(sighting("SIGSEGV", b"1"),)), 3, 1.0)
        second = folder.add(result("models", found=(replace(sighting("SIGSEGV", b"2"), is_another=True),)), 4, 2.0)
        elsewhere = CampaignFolder(tmp_path / "two", SETTINGS)
        third = elsewhere.add(result("models", found=(sighting("SIGSEGV", b"2"),)), 3, 1.0)
        assert second.findings == third.findings != first.findings
        assert folder.doubts() == {"crash: SIGSEGV": Doubt(fuzzer="models", data=b"2")}
        folder.close()
        elsewhere.close()

    @pytest.mark.parametrize(
        ("where", "message"), [("status behind others", "it died"), ("SIGSEGV", "it died (it did not come back)")]
    )
    def test_what_does_not_come_back_alone_is_not_doubted_for_that(
        self, where: str, message: str, tmp_path: Path
    ) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", found=(replace(sighting(where), message=message),)), 3, 1.0)
        assert folder.doubts() == {}
        folder.close()

    def test_the_finding_of_a_file_that_is_gone_or_damaged_stays_known(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        added = folder.add(result("models", found=(sighting("SIGSEGV"), sighting("SIGBUS"))), 3, 1.0)
        gone, damaged = (tmp_path / FINDINGS_FOLDER / name for name in added.findings)
        gone.unlink()
        damaged.write_text("{")
        assert (folder.doubts(), len(folder.known())) == ({}, 2)
        folder.close()

    def test_half_a_line_and_a_lost_file_cost_themselves_only(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", Kept(data=b"a", features=(1,)), Kept(data=b"b", features=(2,))), 3, 1.0)
        folder.close()
        with (tmp_path / ROUNDS).open("ab") as file:
            file.write(b'{"at":12,"fuzz')
        next((tmp_path / "corpus" / "models").iterdir()).unlink()
        again = CampaignFolder(tmp_path, SETTINGS)
        assert len(again.rounds) == 1
        assert len(again.corpus("models")) == 1
        again.close()

    def test_what_rounds_found_that_never_ended_is_there_again(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        for seed, found in ((3, sighting("SIGSEGV", b"long")), (3, sighting("SIGSEGV", b"1")), (4, sighting("SIGBUS"))):
            folder.note(unmerged(seed, found))
        folder.add(result("models", found=(sighting("SIGBUS"),)), 4, 1.0)
        folder.close()  # as a killed one does
        again = CampaignFolder(tmp_path, SETTINGS)
        assert again.known() == {"crash: SIGBUS", "crash: SIGSEGV"}
        failure = failures.load(tmp_path / FINDINGS_FOLDER / again.findings[1].name)
        assert failure.payload == {"lines": ["1"], "encoding": "utf-8"}
        assert not (tmp_path / UNMERGED).exists()
        again.close()

    def test_a_round_that_is_added_leaves_nothing_to_take_up(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        another = replace(sighting("SIGSEGV"), is_another=True)
        folder.note(unmerged(3, another))
        folder.add(result("models", found=(another,)), 3, 1.0)
        folder.take_up()
        assert len(folder.findings) == 1
        folder.close()

    def test_another_campaign_does_not_go_on_in_it(self, tmp_path: Path) -> None:
        CampaignFolder(tmp_path, SETTINGS).close()
        other = Settings(format=1, plugin="other:plugin", options={}, hal=None)
        with pytest.raises(DocumentError, match="its campaign has plugin driver:plugin, not other:plugin"):
            CampaignFolder(tmp_path, other)
        CampaignFolder(tmp_path, SETTINGS).close()  # the one that was refused has let it go

    def test_two_at_once_are_refused(self, tmp_path: Path) -> None:
        first = CampaignFolder(tmp_path, SETTINGS)
        with pytest.raises(DocumentError, match="another campaign is using this folder"):
            CampaignFolder(tmp_path, SETTINGS)
        first.close()

    def test_a_folder_that_cannot_be_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(DocumentError, match="cannot keep a campaign here: Not a directory"):
            CampaignFolder(tmp_path / "file" / "folder", SETTINGS)

    def test_the_latest_inputs_travel_as_far_as_there_is_room(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("npu_conformance.fuzz.lib.campaign.folder.LARGEST_CORPUS", 5)
        folder = CampaignFolder(tmp_path, SETTINGS)
        inputs = (b"aaaa", b"bb", b"ccc")
        folder.add(result("models", *[Kept(data=data, features=(at,)) for at, data in enumerate(inputs)]), 3, 1.0)
        assert [one.data for one in folder.corpus("models")] == [b"bb", b"ccc"]
        folder.close()

    @pytest.mark.parametrize(
        "link",
        ["campaign.json", "rounds.jsonl", "findings.jsonl", "lock", "failures", "corpus/models", "corpus/models.jsonl"],
    )
    def test_a_folder_with_a_link_is_not_used(self, link: str, tmp_path: Path) -> None:
        victim, place = tmp_path / "victim", tmp_path / "campaign"
        place.mkdir()
        CampaignFolder(place, SETTINGS).close()
        (place / "corpus").mkdir()
        (place / link).unlink(missing_ok=True)
        (place / link).symlink_to(victim)
        with pytest.raises(DocumentError, match=f"campaign/{link}: a symbolic link, which"):
            CampaignFolder(place, SETTINGS)
        assert not victim.exists()

    @pytest.mark.parametrize("name", ["rounds.jsonl", "corpus/models/0"])
    def test_a_folder_with_what_never_ends_is_not_used(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "corpus" / "models").mkdir(parents=True)
        os.mkfifo(tmp_path / name)
        with pytest.raises(DocumentError, match=f"{name}: expected a file, found a pipe, a socket or a device"):
            CampaignFolder(tmp_path, SETTINGS)
        (tmp_path / name).unlink()
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, 20 << 30)
        with pytest.raises(DocumentError, match=f"{name}: it is larger than 1024 MiB"):
            CampaignFolder(tmp_path, SETTINGS)

    def test_a_folder_that_is_named_by_a_link_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "campaign").mkdir()
        (tmp_path / "link").symlink_to("campaign")
        CampaignFolder(tmp_path / "link", SETTINGS).close()
        assert (tmp_path / "campaign" / "campaign.json").is_file()

    @pytest.mark.parametrize("name", ["{0}", "../../../victim", "..", "0" * 20 + "\n", "A" * 20])
    def test_names_of_inputs_lead_nowhere_else(self, name: str, tmp_path: Path) -> None:
        victim, place = tmp_path / "victim", tmp_path / "campaign"
        victim.write_text("secret")
        begun = CampaignFolder(place, SETTINGS)
        begun.add(result("models", Kept(data=b"a", features=(1, 2))), 3, 1.0)
        begun.close()
        with (place / "corpus" / "models.jsonl").open("ab") as file:
            file.write(json.dumps({"name": name.format(victim), "features": [1]}).encode() + b"\n")
        folder = CampaignFolder(place, SETTINGS)
        assert [one.data for one in folder.corpus("models")] == [b"a"]
        assert folder.minimise("models") == 1
        folder.close()
        assert victim.exists()

    def test_a_strangers_finding_is_a_line_that_a_terminal_only_shows(self, tmp_path: Path) -> None:
        begun = CampaignFolder(tmp_path, SETTINGS)
        begun.add(result("models", found=(sighting("SIGSEGV"),)), 3, 1.0)
        begun.close()
        written = (tmp_path / FINDINGS).read_bytes()
        for hostile in (b'"it died\\u001b[2J"', b'"it died\\n"'):
            (tmp_path / FINDINGS).write_bytes(written.replace(b'"it died"', hostile) + written)
            folder = CampaignFolder(tmp_path, SETTINGS)
            assert [found.message for found in folder.findings] == ["it died"]
            folder.close()

    def test_minimise_keeps_every_sight(self, tmp_path: Path) -> None:
        index = {"a": (1, 2), "b": (2, 3, 4), "c": (1,), "d": (), "e": (4,)}
        chosen = minimal(index)
        assert {feature for name in chosen for feature in index[name]} == {1, 2, 3, 4}
        assert sorted(chosen) == ["a", "b", "d"]
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", Kept(data=b"a", features=(1,))), 3, 1.0)
        folder.add(result("models", Kept(data=b"b", features=(1, 2))), 3, 2.0)
        assert folder.minimise("models") == 1
        assert [one.data for one in folder.corpus("models")] == [b"b"]
        folder.close()
