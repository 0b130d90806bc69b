"""The tests that only `pytest --slow` runs: campaigns and samples of faults that take seconds of processor each.

What they look at has quicker tests beside it, or is what `npu-conformance run --plugin reference` does in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

NONE = 0

SHARES: dict[str, dict[str, int]] = {
    "adapters/test_stacked_elsewhere.py": {
        "test_every_way_to_execute_reaches_the_driver": 3,
    },
    "cli/test_cluster.py": {
        "test_a_worker_that_dies_costs_its_part_and_resume_makes_it_good": NONE,
    },
    "cli/test_fuzz.py": {
        "test_the_time_is_shared": NONE,
    },
    "cli/test_new_operation.py": {
        "test_ruff_and_mypy_accept_what_is_laid_out": NONE,
    },
    "cli/test_npu.py": {
        "test_no_take_over_and_wrong_outputs_are_wrong": 2,
    },
    "corpus/random_graphs/test_aosp_specification.py": {
        "test_the_importer_finds_the_same_graph": NONE,
    },
    "cts/test_npu_manager.py": {
        "test_each_fault_of_the_source_is_caught_by_the_cases_it_names": 6,
        "test_freedoms_stay_green": 3,
        "test_managers_that_differ_and_conform_stay_green": 3,
        "test_the_reference_passes_again_and_again": 4,
        "test_the_reference_passes_in_any_order": NONE,
    },
    "cts/test_npu_reach.py": {
        "test_every_method_of_every_callback_and_listener": NONE,
        "test_every_status_and_reason": NONE,
    },
    "faults/test_mutants.py": {
        "test_a_run_kills_what_the_cases_see": NONE,
    },
    "faults/test_random_scenarios.py": {
        "test_a_failure_is_run_again_from_its_file": 3,
    },
    "faults/test_reach.py": {
        "test_every_case_of_the_queries_is_reached": NONE,
    },
    "faults/test_registry.py": {
        "test_a_sample_of_faults_is_caught": 3,
        "test_a_sample_of_variants_is_green": 3,
    },
    "fuzz/test_bad_surroundings.py": {
        "test_a_scheduler_that_goes_away_is_one_line": NONE,
    },
    "fuzz/test_burst.py": {
        "test_bugs_of_several_steps_are_found_and_made_small": 3,
        "test_the_reference_has_no_finding": 2,
        "test_what_conforms_has_no_finding": 3,
    },
    "fuzz/test_cache.py": {
        "test_planted_bugs_are_found_and_made_small": 4,
        "test_the_reference_has_no_finding": 2,
        "test_what_conforms_has_no_finding": 3,
    },
    "fuzz/test_cluster.py": {
        "test_a_worker_that_is_killed_does_not_end_the_campaign": NONE,
    },
    "fuzz/test_conforming_npus.py": {
        "test_what_conforms_has_no_finding": 3,
        "test_what_decides_otherwise_has_no_finding": 4,
    },
    "fuzz/test_differential.py": {
        "test_planted_bugs_are_found_and_made_small": 3,
        "test_the_reference_has_no_finding": 2,
        "test_what_conforms_has_no_finding": 3,
    },
    "fuzz/test_documents.py": {
        "test_planted_bugs_are_found_and_made_small": 4,
        "test_the_readers_have_no_finding": NONE,
    },
    "fuzz/test_every_fuzzer.py": {
        "test_the_short_case_passes_on_the_reference": 4,
    },
    "fuzz/test_libfuzzer.py": {
        "test_a_finding_ends_the_process_and_other_inputs_do_not": NONE,
    },
    "fuzz/test_manager.py": {
        "test_bugs_of_several_steps_are_found_and_made_small": 3,
    },
    "fuzz/test_memory_domain.py": {
        "test_planted_bugs_are_found_and_made_small": 4,
        "test_what_conforms_has_no_finding": 4,
    },
    "fuzz/test_rounds.py": {
        "test_a_finding_is_made_small_and_the_round_goes_on": 4,
        "test_atheris_goes_on_after_a_finding_and_keeps_inputs": NONE,
        "test_descriptors_that_remain_are_a_finding": NONE,
    },
    "fuzz/test_runtime.py": {
        "test_bugs_of_several_calls_are_found_and_made_small": 3,
        "test_what_conforms_has_no_finding": 3,
    },
    "fuzz/test_scheduling.py": {
        "test_bugs_of_several_steps_are_judged_and_made_small": 3,
    },
    "harness/pytest_plugin/test_same_cases.py": {
        "test_a_selection": 3,
    },
    "harness/report/test_page_structure.py": {
        "test_a_page_of_a_run_in_which_nothing_is_well_is_small_too": 3,
    },
    "harness/run/test_conformance_of_npu.py": {
        "test_variants_that_can_be_asked_are_conformant": 4,
        "test_what_only_checks_its_arguments_is_red_and_what_it_does_not_do_is_named": 3,
    },
    "harness/run/test_instances.py": {
        "test_workers_of_pytest_are_counted": NONE,
    },
    "harness/subject/test_host_hostile.py": {
        "test_misbehaviour_gets_its_verdict_and_the_next_case_runs": 3,
    },
    "harness/subject/test_hostile_kinds.py": {
        "test_a_kind_gets_its_verdict_and_hurts_nobody_else": 6,
    },
    "harness/wire/test_minimal_driver.py": {
        "test_the_line_of_readme_is_green": 2,
    },
    "harness/wire/test_node_driver.py": {
        "test_it_passes_the_smoke_scope": NONE,
    },
    "mlts/test_models.py": {
        "test_what_the_other_does_wrong_is_no_verdict": 3,
    },
    "reference/hal/test_extensions.py": {
        "test_conforming_variants_with_extensions_are_green": 4,
        "test_every_fault_in_extensions_and_hints_is_caught": 5,
    },
    "reference/manager/test_abuse.py": {
        "test_ten_thousand_outstanding_requests_delay_nobody_and_vanish_with_their_apps": NONE,
        "test_ten_thousand_requests_of_one_app_are_refused_from_the_stated_number_on": NONE,
    },
    "reference/manager/test_buffers.py": {
        "test_the_reference_passes_twice": NONE,
    },
    "vts/test_addition.py": {
        "test_devices_of_one_type_pass_all_that_applies": 3,
    },
    "vts/test_npu_scheduling.py": {
        "test_a_sample_of_faults_is_caught": 3,
        "test_a_sample_of_variants_is_green": 4,
        "test_the_reference_passes": NONE,
    },
    "vts/test_relations.py": {
        "test_every_relation_holds_for_the_reference_and_is_applicable": NONE,
    },
}
"""By file and function: one in so many of its tests runs without --slow, in the order of its parameters; or none."""


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests that are left to --slow. items: in the order in which they are written."""
    met: Counter[str] = Counter()
    found = []
    for item in items:
        function = item.nodeid.partition("[")[0].removeprefix("tests/")
        file, _, name = function.rpartition("::")
        share = SHARES.get(file, {}).get(name, 1)
        if share == NONE or met[function] % share:
            found.append(item)
        met[function] += 1
    return found
