"""Specification files as a user has them: confined, imported, listed, written and run; broken and hostile ones too."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_conformance.cli.main import main
from npu_conformance.corpus.importers import jsonl_vectors
from npu_conformance.corpus.importers.aosp import confinement, importing
from npu_conformance.corpus.importers.aosp.children import Child, Limits, Loaded, version_of
from npu_conformance.specs import ids
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.versions import Version
from npu_conformance.vts import external

OURS = Path(__file__).parent / "specifications"
GOOD = """
x, y = Input("x", "TENSOR_FLOAT32", "{1}"), Output("y", "TENSOR_FLOAT32", "{1}")
Model().Operation("RELU", x).To(y)
Example({x: [2.0], y: [2.0]})
"""
IN_SYS = "import sys\nos = sys.modules['os']\n"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command: exit code, what it printed, what it complained of."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(("vectors", "import-aosp", *arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def written(folder: Path, **texts: str) -> Path:
    """A folder V1_2 with these files."""
    target = folder / "V1_2"
    target.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (target / f"{name}.mod.py").write_text(textwrap.dedent(text))
    return target


def loaded(folder: Path, limits: Limits | None = None) -> list[Loaded]:
    return list(importing.load(importing.files(folder), limits, processes=1))


def complaint(folder: Path, text: str, limits: Limits | None = None) -> str:
    """What is wrong with a file of this text, which must not affect any file after it."""
    first, second = loaded(written(folder, a=text, b=GOOD), limits)
    assert second.problem is None
    assert second.names == ["b", "b_all_inputs_as_internal"]
    assert first.names == []
    return str(first.problem).removeprefix(f"{first.path}:")


def test_the_tests_of_our_files_have_these_names(command: Command) -> None:
    code, out, err = command(str(OURS), "--list")
    internal, tensors = "_all_inputs_as_internal", "_all_tensors_as_inputs"
    four = ("", internal, tensors, tensors + internal)
    pads = [f"pad_twice_pad{part}{life}" for part in ("", "_relaxed", "_quant8", "_float16") for life in four]
    loops = [
        f"counting_{name}{part}{life}"
        for name in ("three", "five")
        for part in ("", "_relaxed", "_float16")
        for life in ("", internal, "_all_outputs_as_internal")
    ]
    relus = [f"relu_plain{part}{life}" for part in ("", "_relaxed", "_float16") for life in ("", internal)]
    assert (code, err) == (0, "")
    assert out.split() == [*pads, *(f"{name}_2" for name in pads), *loops, *relus]


def test_collections_say_the_same_as_the_folder(command: Command, tmp_path: Path) -> None:
    code, out, _ = command(str(OURS), "--out", str(tmp_path / "new" / "out"))
    assert code == 0
    assert [line.split(", names ")[0] for line in out.splitlines()] == [
        "V1_2: 1 files, 32 tests",
        "V1_3: 1 files, 18 tests",
        "plain: 1 files, 6 tests",
    ]
    files = sorted(path.name for path in (tmp_path / "new" / "out").iterdir())
    assert files == ["V1_2.jsonl.gz", "V1_3.jsonl.gz", "plain.jsonl.gz"]
    stored = [case.id for case in external.cases_from(tmp_path / "new" / "out")]
    direct = [case.id for case in external.cases_from(OURS)]
    assert stored == direct
    assert direct[0] == "vts.external.V1_2.pad_twice_pad"
    assert [str(ids.parse(one)) for one in direct] == direct


def test_two_imports_write_the_same_bytes(command: Command, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        command(str(OURS), "--out", str(tmp_path / folder))
    for name in ("V1_2.jsonl.gz", "V1_3.jsonl.gz", "plain.jsonl.gz"):
        one, other = ((tmp_path / folder / name).read_bytes() for folder in ("a", "b"))
        assert one == other
        assert one[4:8] == bytes(4), "gzip's time of day would change from import to import"


def test_every_test_can_be_loaded_and_versions_are_found() -> None:
    found = {}
    for collection in importing.collections(loaded(OURS)):
        for header in collection.headers():
            assert collection.load(header.name).examples
            found[header.name] = header.since
    assert found["pad_twice_pad"] is Version.V1_1
    assert found["pad_twice_pad_quant8"] is Version.V1_2
    assert found["counting_three_relaxed"] is Version.V1_3
    assert found["relu_plain"] is Version.V1_0
    assert found["relu_plain_relaxed"] is Version.V1_1
    assert found["relu_plain_float16"] is Version.V1_2


def test_a_folder_runs_without_being_imported_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path, good=GOOD, bad="x = (")
    options = ("--plugin", "reference", "--vectors", str(folder.parent), "--report", str(tmp_path / "report"), "-q")
    code = main(("run", "vts.external", "-k", "external", *options))
    printed = capsys.readouterr()
    assert code == 3
    assert f"suite-error: {folder / 'bad.mod.py'}:1: SyntaxError: '(' was never closed" in printed.out
    assert re.search(r"^all +2 +1$", printed.out, re.MULTILINE)
    assert "vts.external.V1_2.bad.unreadable" in printed.out
    assert main(("run", "vts.external", "-k", "good", *options)) == 0


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("V1_0", "V1_0"),
        ("AIDL_V2", "AIDL_V2"),
        ("V1_3_cts_only", None),
        ("experimental", None),
        ("V1_2/x", "V1_2"),
        ("V1_0/V1_1", "V1_1"),
    ],
)
def test_versions_come_from_folders(folder: str, expected: str | None) -> None:
    assert version_of(Path("/specs") / folder / "a.mod.py") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\nx = (", "2: SyntaxError: '(' was never closed"),
        ("\n\n1 / 0", "3: ZeroDivisionError: division by zero"),
        ("def f():\n  raise ValueError('two\\nlines')\n\nf()", "2: ValueError: two lines"),
        (GOOD.replace("[2.0]}", "[2.0, 3.0]}).AddNchw(x"), "4: ValueError: x has no layout: expected rank 4,"),
        ("import numpy\nnumpy.zeros(3).reshape(2)", "2: ValueError: cannot reshape array"),
        ("raise SystemExit(0)", "1: SystemExit: 0"),
        ("def f(): f()\nf()", "1: RecursionError"),
        ("x = [0] * 10**12", "1: used up its memory"),
        ("import os", "1: ImportError: a specification cannot import os"),
        ("import socket", "1: ImportError: a specification cannot import socket"),
        ("from subprocess import run", "1: ImportError: a specification cannot import subprocess"),
        ("open('/tmp/x', 'w')", "1: NameError: name 'open' is not defined"),
        ("import numpy\nnumpy.zeros(3).tofile('/tmp/x')", "2: "),
        ("import numpy\nnumpy.load('/etc/passwd')", "2: ForbiddenError: open is forbidden"),
        (IN_SYS + "os.system('true')", "3: ForbiddenError: os.system is forbidden"),
        (IN_SYS + "os.fork()", "3: ForbiddenError: os.fork is forbidden"),
        (IN_SYS + "os.kill(os.getppid(), 9)", "3: ForbiddenError: os.kill is forbidden"),
        (IN_SYS + "os.listdir('/')", "3: ForbiddenError: os.listdir is forbidden"),
        (IN_SYS + "sys.modules['_socket'].socket()", "3: "),
        (IN_SYS + "os.mkfifo('/tmp/x')", "3: PermissionError: [Errno 1]"),
        (IN_SYS + "os.nice(1)", "3: PermissionError: [Errno 1]"),
        (IN_SYS + "os._exit(0)", "1: the process that ran the file ended before its time: it exited with status 0"),
        (IN_SYS + "os.abort()", "1: the process that ran the file ended before its time: it was killed by SIG"),
        (IN_SYS + "[os.write(n, b'{}\\n' * 9) for n in range(3, 9) if n != 7]", ""),
        (
            IN_SYS + 'for n in range(3, 20):\n try: os.write(n, b\'{"test":{"name":"t"}}\\n\')\n except OSError: 0',
            "1: its test t cannot be read: $: Object missing required field",
        ),
        ("import gc" + "\n" + "gc.get_objects()", "1: ImportError"),
        (
            "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
            ".__init__.__globals__['system']('true')",
            "1: ForbiddenError: os.system is forbidden",
        ),
        (
            "import builtins",
            "1: ImportError: a specification cannot import builtins",
        ),
        (
            IN_SYS + "sys.modules['builtins'].open('/tmp/x', 'w')",
            "3: ForbiddenError: open is forbidden",
        ),
        (
            IN_SYS + "vars(sys.modules['builtins']).update(frozenset=list, open=None)\nos.open('/tmp/x', 65)",
            "4: ForbiddenError: open is forbidden",
        ),
        (
            IN_SYS + "try: os.unlink('/tmp/x')\nexcept OSError as e: t = e.__traceback__.tb_next.tb_frame\n"
            "t.f_locals.update(harmless={'os.system'})\nt.f_globals.update(harmless={'os.system'})\nos.system('true')",
            "7: ForbiddenError: os.system is forbidden",
        ),
    ],
)
def test_a_broken_or_hostile_file_is_one_line_and_harms_nothing(tmp_path: Path, text: str, expected: str) -> None:
    assert complaint(tmp_path, text).startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 0\nwhile True: x += 1", "2: used up its processor time"),
        ("while True:\n  try:\n    while True: pass\n  except BaseException: pass", ""),
        ("a = []\nwhile True: a.append(bytearray(10**9))", "2: used up its memory"),
        ("while True: print('x' * 10**6)", "1: used up its processor time"),
        ("x = 9**9**9", "1: "),
        (GOOD.replace("})", "})" + ".AddVariations('relaxed', 'float16')" * 40), ""),
        (IN_SYS + "sys.modules['time'].sleep(99)", "1: waited for 1 seconds instead of computing"),
        (IN_SYS + "while 1:\n  for n in range(20):\n    try: os.write(n, b'x' * 999)\n    except OSError: 0", "1: its"),
    ],
)
def test_a_file_without_end_is_ended(tmp_path: Path, text: str, expected: str) -> None:
    limits = Limits(seconds=1, memory=1 << 30, output=1 << 22, asleep_seconds=1)
    assert complaint(tmp_path, text, limits).startswith(expected)


def test_files_do_not_see_each_other(tmp_path: Path) -> None:
    meddling = (
        "import sys\nInput.lifetime = 'X'\nsys.modules['json'].dumps = None\nConfiguration.use_shm_for_weights = True\n"
    )
    first, second = loaded(written(tmp_path, a=meddling + GOOD, b=GOOD))
    assert first.problem is not None
    assert b"SUBGRAPH_INPUT" in second.lines[0]


def test_a_name_stands_for_one_test(tmp_path: Path) -> None:
    named = GOOD.replace("})", "}, name='b')")
    folder = written(tmp_path, a=named, a_b=GOOD)
    first, second = loaded(folder)
    assert first.names[0] == "a_b"
    assert str(second.problem) == f"{folder / 'a_b.mod.py'}:1: its test a_b is already in {folder / 'a.mod.py'}"


def test_a_child_that_dies_is_started_again(tmp_path: Path) -> None:
    (path,) = importing.files(written(tmp_path, a=GOOD))
    child = Child(Limits())
    try:
        assert child.load(path).names
        process = child._process
        assert process is not None
        process.kill()
        process.wait()
        assert child.load(path).names
    finally:
        child.close()


def test_a_broken_file_turns_the_import_red_and_the_others_are_there(command: Command, tmp_path: Path) -> None:
    folder = written(tmp_path, bad="\nraise ValueError('no')", good=GOOD)
    code, out, err = command(str(folder), "--out", str(tmp_path / "out"))
    assert code == 1
    assert err == f"{folder / 'bad.mod.py'}:2: ValueError: no\n"
    assert out.startswith("V1_2: 2 files, 1 of them failed, 2 tests, names ")
    (collection,) = jsonl_vectors.collections(tmp_path / "out")
    assert [header.name for header in collection.headers()] == ["good", "good_all_inputs_as_internal"]


def test_the_summary_has_the_digest_of_the_sorted_names(command: Command, tmp_path: Path) -> None:
    import hashlib

    folder = written(tmp_path, good=GOOD)
    _, out, _ = command(str(folder))
    assert out.split()[-1] == hashlib.sha256(b"good\ngood_all_inputs_as_internal").hexdigest()


def test_bad_arguments_are_usage_errors(command: Command, tmp_path: Path) -> None:
    assert command(str(tmp_path / "none"))[::2] == (
        2,
        f"npu-conformance: {tmp_path / 'none'}: there is no such file or folder\n",
    )
    assert command(str(tmp_path))[::2] == (2, f"npu-conformance: {tmp_path}: there is no .mod.py file\n")
    good = written(tmp_path, good=GOOD) / "good.mod.py"
    assert command(str(good), "--seconds", "0")[0] == 2
    assert command(str(good), "--out", str(good))[0] == 2
    assert command(str(good))[0] == 0


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    with pytest.raises(DocumentError, match=r"there is no \.mod\.py file"):
        importing.files(tmp_path / "a.py")


def test_the_filter_of_system_calls_holds_alone(tmp_path: Path) -> None:
    """Without the audit hook and the limits, in a process of its own: nothing is opened, made or started."""
    attempts = (
        "os.open('x', os.O_CREAT)", "os.mkfifo('f')", "os.mkdir('d')", "os.execv('/bin/true', ['true'])", "os.fork()",
        "os.pipe()", "os.kill(os.getppid(), 0)",
    )  # fmt: skip
    text = "import os\nfrom npu_conformance.corpus.importers.aosp import system_calls\n"
    text += "print(system_calls.confine(), flush=True)\n"
    text += "".join(f"try: {one}\nexcept PermissionError: print('refused', flush=True)\n" for one in attempts)
    command = [sys.executable, "-c", f"{text}os._exit(0)"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    held, *refused = done.stdout.split()
    if held == "False":
        pytest.skip("this kernel has no filter of system calls")
    assert refused == ["refused"] * len(attempts)
    assert list(tmp_path.iterdir()) == []


def test_the_limits_hold_alone(tmp_path: Path) -> None:
    """Without filter and audit hook: no descriptor, no growing file, no more memory, no more time."""
    text = """
import os
from npu_conformance.corpus.importers.aosp import confinement
log = os.open("log", os.O_CREAT | os.O_WRONLY)
confinement.limit(1, 1 << 30)
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def outcome(attempt):
    try:
        return attempt()
    except (OSError, MemoryError, confinement.OvertimeError) as error:
        return type(error).__name__ + str(getattr(error, "errno", None) or "")
def forever():
    while True: pass
attempts = (lambda: os.open("x", os.O_CREAT), os.pipe, lambda: os.write(log, b"x"), lambda: bytes(1 << 31), forever)
print(*map(outcome, attempts), flush=True)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.split() == ["OSError24", "OSError24", "OSError27", "MemoryError", "OvertimeError"], done.stderr


def test_everything_importable_is_there_before_the_walls_go_up(tmp_path: Path) -> None:
    text = "".join(f"import {name}\n" for name in confinement.IMPORTABLE if name != "__future__")
    text = (
        f"from __future__ import annotations\n{text}numpy.random.default_rng(3).normal()\nnumpy.linalg.inv([[1.0]])\n"
    )
    more = "@dataclasses.dataclass\nclass A:\n  b: int\nB = collections.namedtuple('B', 'c')\nrandom.random()\n"
    (one,) = loaded(written(tmp_path, a=text + more + GOOD))
    assert one.problem is None
