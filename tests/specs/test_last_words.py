"""What dying processes write: what was wrong, and where, is read out of the reports of many tools as they are."""

from __future__ import annotations

import signal
import time

import pytest

from npu_conformance.specs.diagnostics import last_words

LEGEND = "Shadow bytes around the buggy address:\n" + "".join(
    f"  Shadow {number}:       f{number % 10}\n" for number in range(40)
)
ADDRESS = f"""\
tile 3 of 7
=================================================================
==7562==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000001b at pc 0x55a4d7eb80e5 bp 0x7ff sp 0x7ff
READ of size 9 at 0x60200000001b thread T0
    #0 0x55dd63a56539 in __asan_memcpy (/opt/driver+0xa3539) (BuildId: 950231a7)
    #1 0x55a4d7eb80e4 in npu::(anonymous namespace)::match(char const*, int) /src/my driver/match.cpp:5:77
    #2 0x55a4d7eb7f82 in main /src/driver.cpp:20:20

0x60200000001b is located 1 bytes to the right of 10-byte region [0x602000000010,0x60200000001a)
allocated by thread T0 here:
    #0 0x55a4d7e7d15e in __interceptor_malloc (/opt/driver+0xa415e) (BuildId: 950231a7)
    #1 0x55a4d7eb7ec3 in setup /src/driver.cpp:18:13

SUMMARY: AddressSanitizer: heap-buffer-overflow (/opt/driver+0xa3539) (BuildId: 950231a7) in __asan_memcpy
{LEGEND}==7562==ABORTING
"""
STRIPPED = """\
==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x564df46fe60c bp 0x0 sp 0x7 T0)
    #0 0x5584fcc91ffd  (/opt/driver+0xdeffd) (BuildId: fec02806)
    #1 0x7f2bdbbef249 in __libc_start_call_main csu/../sysdeps/nptl/libc_start_call_main.h:58:16

SUMMARY: AddressSanitizer: SEGV (/opt/driver+0xdeffd) (BuildId: fec02806)
==1==ABORTING
"""
GCC = """\
==1==ERROR: AddressSanitizer: attempting double-free on 0x602000000010 in thread T0:
    #0 0x7f1 in __interceptor_free ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:52
    #1 0x55d in dbl /src/a.c:10

SUMMARY: AddressSanitizer: double-free ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:52 in __interceptor_free
"""
LEAK = """\
==7662==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 33 byte(s) in 1 object(s) allocated from:
    #0 0x560990f1215e in __interceptor_malloc (/opt/driver+0xa415e) (BuildId: 950231a7)
    #1 0x560990f4d3ee in prepare /src/a.c:11:71

SUMMARY: AddressSanitizer: 43 byte(s) leaked in 2 allocation(s).
"""
THREAD = """\
==================
WARNING: ThreadSanitizer: data race (pid=6302)
  Write of size 4 at 0x55f4484b6258 by thread T2:
    #0 count /src/th.c:2:37 (th+0xd00ff) (BuildId: 32fa)

  Previous write of size 4 at 0x55f4484b6258 by thread T1:
    #0 other /src/th.c:9:37 (th+0xd00ff) (BuildId: 32fa)

SUMMARY: ThreadSanitizer: data race /src/th.c:2:37 in count
==================
ThreadSanitizer: reported 1 warnings
"""
MEMORY = """\
==7783==WARNING: MemorySanitizer: use-of-uninitialized-value
    #0 0x559d34f6c4b0 in choose <null> (/opt/driver+0xd00ff) (BuildId: ed47)

SUMMARY: MemorySanitizer: use-of-uninitialized-value (/opt/driver+0xd00ff) (BuildId: ed47) in choose
Exiting
"""
OVERFLOW = "a.c:8:59: runtime error: signed integer overflow: 2 + 2147483647 cannot be represented in type 'int'\n"
RUST = "\nthread 'main' (6002) panicked at src/pick.rs:1:39:\nindex out of bounds: the len is 2 but the index is 4\n"
GO = """\
panic: runtime error: index out of range [5] with length 3 [recovered]

goroutine 1 [running]:
panic({0x45, 0x4c})
\t/usr/lib/go/src/runtime/panic.go:884 +0x212
main.(*Driver).Prepare(...)
\t/src/driver.go:7 +0x1d
exit status 2
"""
NODE = """\
/src/n.js:1
function foo(x) { return x.y.z; }
                             ^

TypeError: Cannot read properties of undefined (reading 'z')
    at foo (/src/n.js:1:30)
    at node:internal/main/run_main_module:28:49

Node.js v20.20.2
"""
JAVA = 'Exception in thread "main" java.lang.NullPointerException: no model\n\tat npu.Driver.prepare(Driver.java:12)\n'
PYTHON = """\
Traceback (most recent call last):
  File "/src/driver.py", line 4, in <module>
    prepare("{")
  File "/src/driver.py", line 3, in prepare
    return json.loads(x)
ValueError: no model
"""
RACE, UNDEFINED = "ThreadSanitizer: data race", "UndefinedBehaviorSanitizer: undefined-behavior"


@pytest.mark.parametrize(
    ("text", "place", "cause", "what"),
    [
        (ADDRESS, "match.cpp:5 in npu::match", "AddressSanitizer: heap-buffer-overflow in npu::match of match.cpp", ""),
        (STRIPPED, "driver+0xdeffd", "AddressSanitizer: SEGV at driver+0xdeffd", "AddressSanitizer: SEGV"),
        (GCC, "a.c:10 in dbl", "AddressSanitizer: double-free in dbl of a.c", "AddressSanitizer: double-free"),
        (LEAK, "a.c:11 in prepare", "AddressSanitizer: N byte(s) leaked in N allocation(s) in prepare of a.c", ""),
        (THREAD, "th.c:2 in count", f"{RACE} in count of th.c", RACE),
        (MEMORY, "choose", "MemorySanitizer: use-of-uninitialized-value in choose", ""),
        (OVERFLOW, "a.c:8", "runtime error at a.c:8", ""),
        (f"{OVERFLOW}SUMMARY: {UNDEFINED} a.c:8:59 in \n", "a.c:8", f"{UNDEFINED} at a.c:8", OVERFLOW[25:-1]),
        ("drv: a.c:12: prepare: Assertion `n == 0' failed.\n", "a.c:12 in prepare", "Assertion in prepare of a.c", ""),
        ("Assertion failed: n == 0 (a.c: prepare: 12)\n", "a.c:12 in prepare", "Assertion in prepare of a.c", ""),
        (
            'a.c:12: prepare: assertion "n" failed\n',
            "a.c:12 in prepare",
            "assertion in prepare of a.c",
            'assertion: "n"',
        ),
        (RUST, "pick.rs:1", "panicked at pick.rs:1", "panicked: index out of bounds: the len is 2 but the index is 4"),
        ("thread 'a' panicked at 'no', src/pick.rs:1:3\n", "pick.rs:1", "panicked at pick.rs:1", "panicked: no"),
        (GO, "driver.go:7 in main.(*Driver).Prepare", "panic in main.(*Driver).Prepare of driver.go", ""),
        (NODE, "n.js:1 in foo", "TypeError in foo of n.js", ""),
        (JAVA, "Driver.java:12 in npu.Driver.prepare", "java.lang.NullPointerException in npu.Driver.prepare of ", ""),
        (PYTHON, "driver.py:3 in prepare", "ValueError in prepare of driver.py", "ValueError: no model"),
        ("free(): double free detected in tcache 2\n", "", "", "free(): double free detected in tcache 2"),
        ("*** stack smashing detected ***: terminated\n", "", "", "*** stack smashing detected ***: terminated"),
        ("double free or corruption (fasttop)\n", "", "", "double free or corruption (fasttop)"),
        ("terminate called after throwing an instance of 'X'\n  what():  no\n", "", "", ""),
    ],
)
def test_a_report_says_what_and_where(text: str, place: str, cause: str, what: str) -> None:
    found = last_words.told(f"tile 3 of 7\n{text}")
    assert found is not None
    assert found.place == place
    assert found.cause[: len(cause)] == cause
    assert bool(found.cause) == bool(place)
    assert found.what == what or (not what and found.what)


def test_words_that_are_no_report_are_shown_from_their_end() -> None:
    assert last_words.told("assertion failed: tile != 0\nValueError is what a.c:7 logs\n") is None
    assert last_words.telling("1\n\n2\n3\n", 2) == ["2", "3"]
    assert last_words.kept("1234", 2) == "34"


def test_a_report_is_shown_from_its_beginning() -> None:
    assert last_words.telling(ADDRESS, 2) == ADDRESS.splitlines()[2:4]
    assert last_words.kept(ADDRESS, 500) == ADDRESS[78 : 78 + 500]
    assert last_words.kept(ADDRESS, 1 << 16) == ADDRESS
    assert last_words.telling(PYTHON, 3)[-1] == "ValueError: no model"


def test_the_latest_report_counts_and_none_that_was_survived() -> None:
    latest = last_words.told(ADDRESS + RUST)
    assert latest is not None
    assert latest.place == "pick.rs:1"
    assert last_words.told(RUST + "tile\n" * 500) is None


@pytest.mark.parametrize(
    ("status", "is_heard"), [(1 << 8, True), (signal.SIGABRT, True), (0, False), (signal.SIGSEGV, False)]
)
def test_what_a_process_logged_before_it_died_in_silence_is_no_report(status: int, is_heard: bool) -> None:
    assert (last_words.of_death(PYTHON, status) is not None) == is_heard


@pytest.mark.parametrize("piece", [" ", "(", ".", "/", "#0 ", "    #0 0x1 in ", "SUMMARY: X: ", "a:1: ", "panic: x\n"])
def test_no_text_of_a_stranger_takes_long(piece: str) -> None:
    line = f"    #0 0x1 in {piece * (4900 // len(piece))}\n"
    text = line * 13 + piece * (1 << 16) + line * 13 + "SUMMARY: X: a b.c in d\n"
    began = time.process_time()
    last_words.telling(text, 3)
    assert time.process_time() - began < 2
