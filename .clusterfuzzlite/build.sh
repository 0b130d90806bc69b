#!/bin/bash -eu
# Builds each fuzzer of this project into $OUT, with what its search starts from.
pip3 install "$SRC/npu-conformance"

for name in $(npu-conformance fuzz list | cut -d ' ' -f 1); do
    script="$SRC/$name.py"
    cat > "$script" <<PYTHON
import atheris

from npu_conformance.fuzz.lib.instrumented import PACKAGES

with atheris.instrument_imports(include=[f"npu_conformance.{name}" for name in PACKAGES]):
    from npu_conformance.fuzz.lib.libfuzzer import attack
    attack("$name")
PYTHON
    compile_python_fuzzer "$script" --collect-all npu_conformance --copy-metadata npu-conformance

    seeds=$(mktemp -d)
    python3 - <<PYTHON
from pathlib import Path

from npu_conformance.fuzz.lib.libfuzzer import write_seeds

write_seeds("$name", Path("$seeds"))
PYTHON
    zip -q -j -r "$OUT/${name}_seed_corpus.zip" "$seeds"
    printf '[libfuzzer]\nmax_len = 16384\n' > "$OUT/$name.options"
done
