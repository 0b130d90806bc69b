"""The examples below the help of each command; below "" those of the command line as a whole."""

from __future__ import annotations

from collections.abc import Iterable

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": (
        "npu-conformance check my_package.driver:plugin",
        "npu-conformance run --plugin my_package.driver:plugin",
        "npu-conformance run vts -k CONV_2D --plugin exec:./my_driver",
        "npu-conformance COMMAND --help",
    ),
    "plugins": ("npu-conformance plugins",),
    "check": (
        "npu-conformance check my_package.driver:plugin",
        "npu-conformance check 'exec:./my_driver --board /dev/npu0'",
        "npu-conformance check reference --hal 1.2 --json",
        "npu-conformance check my_package.driver:plugin --write-claims claims.json",
    ),
    "list": (
        "npu-conformance list vts.burst",
        "npu-conformance list 'vts.generated.PAD.*' --long",
        "npu-conformance list -k 'CONV_2D and quant8' --scope smoke",
    ),
    "run": (
        "npu-conformance run --plugin my_package.driver:plugin",
        "npu-conformance run vts --scope smoke --plugin exec:./my_driver",
        "npu-conformance run -k 'CONV_2D and quant8' --plugin my_package.driver:plugin --hal 1.2",
        "npu-conformance run 'vts.*.CONV_2D.*' --plugin my_package.driver:plugin",
        "npu-conformance run --last-failed --plugin my_package.driver:plugin",
        "npu-conformance run --plugin reference --plugin-option clock=real --transport message -n 2",
    ),
    "replay": (
        "npu-conformance replay .npu-conformance/my-driver --plugin my_package.driver:plugin",
        "git bisect run npu-conformance replay CASE.json --plugin my_package.driver:plugin --bisect",
    ),
    "report": (
        "npu-conformance report .npu-conformance/my-driver --failures",
        "npu-conformance report .npu-conformance/my-driver --html report.html",
        "npu-conformance report .npu-conformance/my-driver --badge badge.svg",
        "npu-conformance report reports/monday reports/tuesday reports/wednesday --html trend.html",
    ),
    "merge": (
        "npu-conformance merge shard1 shard2 shard3 --report whole --require-conformant",
        "npu-conformance merge shards/* --report whole --waivers waivers.json",
    ),
    "diff": ("npu-conformance diff reports/monday reports/tuesday",),
    "requirements": (
        "npu-conformance requirements 'NNHAL-BURST-*'",
        "npu-conformance requirements NNHAL-PREPARE-004 --cases",
    ),
    "faults": (
        "npu-conformance faults pad-raw-zero",
        "npu-conformance faults 'burst-*' --json -n 2",
        "npu-conformance faults --variants --sample 3 --sample-cases 200",
    ),
    "vectors": (
        "npu-conformance vectors show PAD.quant8_rank1 --as text",
        "npu-conformance vectors export RESIZE_BILINEAR vts.generated.ADD.float32_none_same --to my_tests",
        "npu-conformance vectors witness SOFTMAX --engine litert",
    ),
    "new-operation": ("npu-conformance new-operation FOO_2D",),
    "catalogue": ("npu-conformance catalogue check examples/extension/catalogue",),
    "schemas": ("npu-conformance schemas manifest", "npu-conformance schemas waivers --check waivers.json"),
    "kit": ("npu-conformance kit my_driver/kit --hal 1.2",),
    "fuzz": (
        "npu-conformance fuzz models --plugin my_package.driver:plugin --time 10m --jobs 2",
        "npu-conformance fuzz models wire --plugin reference --runs 1000 --seed 7",
        "npu-conformance fuzz triage",
    ),
    "graphs": (
        "npu-conformance graphs --plugin my_package.driver:plugin --time 60s",
        "npu-conformance graphs --plugin exec:./my_driver --seeds 0:50 --size large --types float32 quant8",
        "npu-conformance graphs --plugin reference --seeds 7 --operations CONV_2D ADD",
    ),
    "models": (
        "npu-conformance models list",
        "npu-conformance models fetch visual_wake_words keyword_spotting_alexa keyword_spotting_alexa_int8",
        "npu-conformance models path visual_wake_words",
    ),
    "serve": (
        "npu-conformance serve reference --listen unix:/tmp/npu.socket",
        "npu-conformance serve my_package.driver:plugin --listen tcp:127.0.0.1:0 --key-file key",
    ),
    "mlts": (
        "npu-conformance mlts --plugin my_package.driver:plugin",
        "npu-conformance mlts latency accuracy --models digits_conv --plugin reference --beside litert",
        "npu-conformance mlts capabilities --plugin my_package.driver:plugin",
    ),
    "npu": (
        "npu-conformance npu demo",
        "npu-conformance npu top unix:/tmp/npu.socket --once",
        "npu-conformance npu shell unix:/tmp/npu.socket info",
    ),
    "completion": (
        'eval "$(npu-conformance completion bash)"',
        "npu-conformance completion zsh > ~/.zsh/completions/_npu-conformance",
        "npu-conformance completion fish > ~/.config/fish/completions/npu-conformance.fish",
    ),
}

FUZZER = (
    "npu-conformance fuzz {name} --plugin my_package.driver:plugin --time 10m --jobs 2",
    "npu-conformance fuzz {name} --plugin exec:./my_driver --corpus nightly --longest-wait 5",
    "npu-conformance replay .npu-conformance/fuzz --plugin my_package.driver:plugin",
)
"""Those below the help of each fuzzer."""


def shown(lines: Iterable[str]) -> str:
    """Examples as help shows them."""
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])
