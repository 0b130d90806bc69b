"""In a call: a driver ends its process, holds it up, fills what there is, or breaks the interpreter it runs in."""

from __future__ import annotations

import builtins
import json
import os
import resource
import signal
import socket
from collections.abc import Callable

import msgspec

from rooms import deeds
from rooms.kind import SOON, Call, Kind, Verdict, sleep

_LONG = RuntimeError("x" * (32 * deeds.MEGABYTE))
_GONE, _HUNG = "the host process ", f"no answer within {SOON:g} s (host killed)"


def _hang(name: str, does: str, act: Callable[[Call], object], apart: bool = False) -> Kind:
    return Kind(name, does, "hang", _HUNG, act, SOON, apart=apart)


def _crash(name: str, does: str, how: str, act: Callable[[Call], object], apart: bool = False) -> Kind:
    return Kind(name, does, "crash", _GONE + how, act, apart=apart)


def _kind(
    name: str, does: str, verdict: Verdict, says: str, act: Callable[[Call], object], apart: bool = False
) -> Kind:
    return Kind(name, does, verdict, says, act, apart=apart)


_EXIT_70 = "exited with status 70"
_RAISED = ": raised "

KINDS = (
    _crash("abort", "calls abort()", "was killed by SIGABRT (signal 6)", lambda call: os.abort()),
    _crash("segmentation_fault", "reads address 0", "was killed by SIGSEGV", deeds.segmentation_fault),
    _crash("bus_error", "raises SIGBUS", "was killed by SIGBUS", deeds.signals(signal.SIGBUS)),
    _crash("kill_itself", "sends itself SIGKILL", "was killed by SIGKILL", deeds.signals(signal.SIGKILL)),
    _crash("real_time_signal", "sends itself a signal without a name", "was killed by ",
           deeds.signals(signal.SIGRTMIN + 5)),
    _crash("exit_0", "ends with status 0", "exited with status 0", lambda call: os._exit(0)),
    _crash("exit_255", "ends with status 255", "exited with status 255", lambda call: os._exit(255)),
    _crash("system_exit", "raises SystemExit", _EXIT_70, deeds.raises(SystemExit(0))),
    _crash("keyboard_interrupt", "raises KeyboardInterrupt", _EXIT_70, deeds.raises(KeyboardInterrupt())),
    _crash("generator_exit", "raises GeneratorExit", _EXIT_70, deeds.raises(GeneratorExit())),
    _crash("execute_true", "becomes another program that ends", "exited with status 0", deeds.execute("/bin/true")),
    _crash("alarm", "is ended by an alarm", "was killed by SIGALRM", deeds.timed(signal.ITIMER_REAL)),
    _crash("virtual_alarm", "is ended by a limit of time", "was killed by SIGVTALRM",
           deeds.timed(signal.ITIMER_VIRTUAL)),
    _crash("confined", "forbids itself all system calls", "was killed by SIGKILL",
           deeds.control(deeds.PR_SET_SECCOMP, 1)),
    _crash("recursion_in_c", "recurses without a limit", "was killed by SIGSEGV", deeds.recurse_in_c),
    _crash("fault_in_a_thread", "faults in a thread", "was killed by SIGSEGV", deeds.fault_in_a_thread),
    _crash("kill_own_group", "kills its process group", "was killed by SIGKILL", deeds.kill_own_group, apart=True),
    _crash("children_then_exit", "leaves children in sessions of their own", "exited with status 5",
           deeds.children_then_exit),
    _crash("daemon_then_exit", "leaves a daemon", "exited with status 6", deeds.daemon_then_exit),
    _crash("traced_and_exits", "has a daemon trace it, and exits", "exited with status 5",
           deeds.traced(lambda call: os._exit(5))),
    _hang("traced_by_its_daemon", "has a daemon trace it, and sleeps", deeds.traced(lambda call: sleep())),
    _kind("kill_parent", "kills the process that started it", "crash", "the process that imports the plug-in has died",
          deeds.parent(signal.SIGKILL), apart=True),
    _kind("fault_in_parent", "sends its parent SIGSEGV", "crash", "the process that imports the plug-in has died",
          deeds.parent(signal.SIGSEGV), apart=True),
    _kind("kill_group_of_parent", "kills the group of its parent", "crash", "imports the plug-in has died",
          deeds.kill_group_of_parent, apart=True),
    _kind("few_descriptors_for_parent", "limits its parent's descriptors, and exits", "crash", "exited with status",
          deeds.limit_parent(resource.RLIMIT_NOFILE, 5), apart=True),
    _crash("few_bytes_for_parent", "limits its parent's memory, and exits", "exited with status 3",
           deeds.limit_parent(resource.RLIMIT_AS, deeds.MEGABYTE), apart=True),
    _hang("stop_parent", "stops the process that started it", deeds.parent(signal.SIGSTOP), apart=True),
    _hang("spin", "computes for ever", deeds.spin),
    _hang("sleep", "sleeps", lambda call: sleep()),
    _hang("hold_the_interpreter", "sleeps with the interpreter's lock held", deeds.hold_the_interpreter),
    _hang("stop_itself", "stops itself", deeds.signals(signal.SIGSTOP)),
    _hang("ignore_all_and_sleep", "ignores every signal, and sleeps", deeds.deafen_and_sleep),
    _hang("block_all_and_sleep", "blocks every signal, and sleeps", deeds.block_signals_and_sleep),
    _kind("close_everything", "closes all descriptors, and sleeps", "crash", "lives on", deeds.close_everything),
    _kind("close_socket", "closes its socket, and sleeps", "crash", "lives on",
          deeds.close_and_sleep),
    _kind("shut_writing", "shuts its end of the socket", "crash", "lives on", deeds.shut(socket.SHUT_WR)),
    _kind("shut_both", "shuts the socket", "crash", "lives on", deeds.shut(socket.SHUT_RDWR)),
    _kind("execute_sleep", "becomes another program that goes on", "crash", "lives on",
          deeds.execute("/bin/sleep", "3600")),
    _crash("lose_socket", "puts something else in the place of its socket", "exited with status 0",
           deeds.move_into_the_socket),
    _kind("forge_garbage", "garbles what the process that starts it says", "crash",
          "sent something that is not a message", deeds.forges_and_sleeps(b"\xff garbage")),
    _kind("forge_failed_import", "says that it could not be imported", "crash", "sent something that is not a message",
          deeds.forges_and_sleeps(b'{"type": "LoadFailed", "text": "no board"}')),
    _kind("forge_end", "says that it has died", "crash", "was killed by SIGSEGV",
          deeds.forges_and_sleeps(*deeds.ends_of(range(400)))),
    _kind("forge_prints", "says that it has printed", "pass", "", deeds.forges(*[b'{"type": "Printed"}'] * 50)),
    _kind("unicode_error", "raises what bad params raise as well", "fail", "UnicodeDecodeError",
          deeds.raises(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"))),
    _kind("validation_error", "raises what bad params raise as well", "fail", ": raised ValidationError",
          deeds.raises(msgspec.ValidationError("no - at `$.model`"))),
    _kind("exception", "raises an exception", "fail", ": raised KeyError at ", deeds.raises(KeyError("nope"))),
    _kind("os_error", "raises an error of the system", "fail", "OSError", deeds.raises(OSError(5, "no device"))),
    _kind("memory_error", "raises MemoryError", "fail", "MemoryError", deeds.raises(MemoryError())),
    _kind("stop_iteration", "raises StopIteration", "fail", "StopIteration", deeds.raises(StopIteration())),
    _kind("exception_group", "raises several exceptions", "fail", "ExceptionGroup",
          deeds.raises(ExceptionGroup("several", [ValueError("a"), ValueError("b")]))),
    _kind("exception_without_words", "raises what cannot be printed", "fail", _RAISED,
          deeds.raises(deeds.Unprintable())),
    _kind("exception_of_32_mb", "raises with 32 MB of words", "fail", "characters more", deeds.raises(_LONG)),
    _kind("exception_for_terminals", "raises with what a terminal obeys", "fail", "\\x1b[2J",
          deeds.raises(RuntimeError("\x1b[2J\x1b]0;title\x07\x00\r\nline"))),
    _kind("exception_in_surrogates", "raises with half a character", "fail", _RAISED,
          deeds.raises(RuntimeError("\ud800"))),
    _kind("recursion", "recurses to the limit", "fail", "RecursionError", deeds.recurse),
    _kind("eat_memory", "takes memory without end", "fail", "MemoryError", deeds.eat_memory),
    _kind("exhaust_descriptors", "opens all that it may", "fail", "Too many open files", deeds.exhaust_descriptors),
    _kind("children", "starts children that stay", "pass", "", deeds.children),
    _kind("chain_of_children", "starts a child that starts a child that ...", "pass", "", deeds.chain),
    _kind("zombies", "leaves dead children", "pass", "", deeds.zombies),
    _kind("flooding_child", "leaves a child that prints for ever", "pass", "", deeds.flooding_child),
    _kind("adopt_orphans", "adopts what should be the suite's to clean up", "pass", "", deeds.adopt_orphans),
    _kind("new_name_spaces", "starts a child in name spaces of its own", "pass", "", deeds.new_name_spaces, apart=True),
    _kind("threads", "leaves threads that sleep", "pass", "", deeds.threads),
    _kind("threads_that_stay", "leaves threads that hold up the end", "pass", "", deeds.threads_that_hold_exit_up),
    _kind("fail_in_a_thread", "fails in a thread", "pass", "", deeds.fail_in_a_thread),
    _kind("print_on_stdout", "prints 20 MB", "pass", "", deeds.print(1, b"o" * (1 << 16))),
    _kind("print_on_stderr", "prints 20 MB of zeros on stderr", "pass", "", deeds.print(2, bytes(1 << 16))),
    _kind("close_streams", "closes stdin, stdout and stderr", "pass", "", deeds.close(0, 1, 2)),
    _kind("lose_streams", "has no sys.stdout", "pass", "", deeds.lose_streams),
    _kind("ignore_signals", "ignores what asks it to end", "pass", "", deeds.ignore_signals),
    _kind("hang_at_exit", "hangs when it should end", "pass", "", deeds.hang_at_exit),
    _kind("change_surroundings", "changes folder, umask, priority, environment", "pass", "", deeds.change_surroundings),
    _kind("lose_the_folder", "stands in a folder that is gone", "pass", "", deeds.lose_the_folder),
    _kind("not_dumpable", "lets nobody look at its process", "pass", "", deeds.control(deeds.PR_SET_DUMPABLE, 0)),
    _kind("outlive_parent", "does not want to end with its parent", "pass", "",
          deeds.control(deeds.PR_SET_PDEATHSIG, 0)),
    Kind("become_nobody", "gives up its user", "pass", "", deeds.become_nobody, apart=True, after="fail"),
    _kind("break_len", "breaks the interpreter's len", "crash", _GONE, deeds.break_function(builtins, "len")),
    _kind("break_json", "breaks the module json", "pass", "", deeds.break_function(json, "dumps")),
    _kind("break_encoder", "breaks msgspec", "pass", "", deeds.break_function(msgspec.json, "encode")),
    _kind("forget_modules", "forgets all modules", "pass", "", deeds.forget_modules),
)  # fmt: skip
