"""Which faults of these tables a default case shows after all: they are faults like any other.

Each table was run at once against the default cases; a case that was red was run against each of its faults alone.
"""

from __future__ import annotations

SEEN = {
    "fuzz-burst-three-alike": "vts.burst.tokens.any",
    "fuzz-burst-tired": "vts.burst.tokens.below_minus_one",
    "fuzz-manager-loaded-thrice": "cts.npu_manager.budget.default_weights",
    "fuzz-manager-oldest-of-three": "cts.npu_manager.machine.budget",
    "fuzz-manager-second-cancel": "cts.npu_manager.machine.turn_taking",
    "fuzz-manager-sign-of-id": "cts.npu_manager.machine.deadlines",
    "fuzz-manager-three-parked": "cts.npu_manager.dump.as_many_as_there_are",
    "fuzz-memory_domain-doubled-memory": "vts.memory_domains.copy_to.size",
    "fuzz-memory_domain-smaller-behind-larger": "vts.memory_domains.shapes.resizing",
    "fuzz-memory_domain-third-write": "vts.memory_domains.shapes.of_last_output",
    "fuzz-models-errors-cancel": "vts.validation.CONV_2D.remove_operand",
    "fuzz-models-notifies-twice-omitted": "vts.generated.BIDIRECTIONAL_SEQUENCE_LSTM.float16_projection_sigmoid_cell_clip_parallel[all_inputs_as_internal]",  # noqa: E501
    "fuzz-models-rank-beyond-eight": "vts.messages.Device_getSupportedOperations.absurd_values",
    "fuzz-models-size-of-32-bits": "vts.validation.CAST.dimension",
    "fuzz-models-three-errors-carry": "vts.validation.AVERAGE_POOL_2D.lifetime_code",
    "fuzz-requests-aliases-of-many": "vts.histories.driver.work",
    "fuzz-requests-end-by-one": "vts.requests.ADD.output_beyond_pool",
    "fuzz-requests-negative-padding": "vts.request_structure.R3.refuses_input_negative_padding",
    "fuzz-requests-omits-and-reshapes": "vts.request_mutations.LOCAL_RESPONSE_NORMALIZATION.arguments",
    "fuzz-requests-rank-of-five": "vts.request_mutations.DIV.arguments",
    "fuzz-requests-writes-behind": "vts.executions.layout.odd_places",
    "fuzz-runtime-copied-onto-itself": "cts.memory.domains.copies",
    "fuzz-runtime-finished-again": "cts.random_calls.api.from_nothing",
    "fuzz-runtime-fourth-execution": "cts.generated.AVERAGE_POOL_2D.quant8_signed_wide_same_stride1x3_nhwc_relu",
    "fuzz-runtime-fourth-role": "cts.memory.domains.chain",
    "fuzz-runtime-late-loop-timeout": "cts.misuse.execution_set_loop_timeout.started",
    "fuzz-runtime-relaxed-twice": "cts.states.said_again.relaxed",
    "fuzz-runtime-second-burst": "cts.generated.AXIS_ALIGNED_BBOX_TRANSFORM.float16_2_rois_1_classes_1_images",
    "fuzz-runtime-waited-thrice": "cts.executions.events.wait_again",
    "fuzz-scheduling-third-callback": "vts.npu_scheduling.callback.replaced_during_work",
    "fuzz-scheduling-three-alive": "vts.npu_scheduling.ends.failed_ends_all",
    "fuzz-scheduling-wraps-job": "vts.npu_scheduling.machine.work",
}
"""The first case that is red, by the id of the fault."""
