"""Allocation: requests, their defaults, and what is answered."""

from __future__ import annotations

import functools
import itertools
import os
from collections import Counter
from functools import partial

from npu_conformance.cts.lib.buffer_fixture import (
    LARGEST_PAGE,
    MIB,
    NO_ROOM,
    PAGE,
    PLACES,
    READ_WRITE,
    BufferApp,
    check_errno,
    errno_raised,
    is_rejected,
    pattern,
)
from npu_conformance.cts.lib.manager_client import pass_time
from npu_conformance.cts.lib.shortage import most
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.buffers import AllocRequest, BufferType, Errno, Protection

cases = CaseGroup("cts.npu_buffers.allocation", interface="manager")

_FLOOD, _FULL_FLOOD = 1100, 10_000
_EXTREME_IDS = (-1, 2**63 - 1, -(2**63))


@cases.case("single", "NPU-BUF-003", scope=Scope.SMOKE)
def single(context: CaseContext) -> None:
    """A supported request gets one answer: success with a buffer, which can be freed."""
    app = BufferApp(context).supported()
    app.allocated(app.request(1))
    app.flush()
    checks.equal(app.recorder.of(1), [("allocated", 0)], "callbacks of request 1")
    app.free(1)


@cases.case("batch", "NPU-BUF-003", "NPU-BUF-002")
def batch(context: CaseContext) -> None:
    """Of a batch each request is answered exactly once, the wrong ones with EINVAL, the others as there is room."""
    app = BufferApp(context).supported()
    app.need_supported(app.request(1))
    requests = [AllocRequest(one) if one % 3 == 0 else app.request(one) for one in range(1, 10)]
    errnos = {answer.id: answer.errno for answer in app.get(*requests)}
    app.flush()
    for one in requests:
        what = f"callbacks of request {one.id}"
        checks.equal(app.recorder.of(one.id), [("allocated", errnos[one.id])], what)
        check_errno(errnos[one.id], [Errno.EINVAL] if one.id % 3 == 0 else [0, *NO_ROOM], what)
    checks.that(0 in errnos.values(), "a batch with six requests that are supported: expected a buffer, found none")


@cases.case("empty_batch", "NPU-BUF-003")
def empty_batch(context: CaseContext) -> None:
    """An empty batch succeeds and causes no callback."""
    app = BufferApp(context)
    checks.succeeds(lambda: app.allocator.get_buffers(()), "getBuffers of an empty list")
    pass_time(context)
    checks.that(not app.recorder.events, f"expected no callback, found {app.recorder.events}")
    checks.equal(app.allocator.is_supported(()), (), "isSupported of an empty list")


@cases.case("unset_device", "NPU-BUF-002", "NPU-BUF-001")
def unset_device(context: CaseContext) -> None:
    """A request that names no device, or a negative one, is answered with EINVAL through the callback."""
    app = BufferApp(context)
    app.rejected(AllocRequest(1, buffer_type=BufferType.MODEL_WEIGHTS, size=PAGE), [Errno.EINVAL], "no device")
    wrong = AllocRequest(2, -7, BufferType.MODEL_WEIGHTS, PAGE)
    app.rejected(wrong, [Errno.EINVAL], "device -7")


@cases.case("unset_type", "NPU-BUF-002", "NPU-BUF-001")
def unset_type(context: CaseContext) -> None:
    """A request that names no type of buffer is answered with EINVAL through the callback."""
    app = BufferApp(context).supported()
    app.rejected(AllocRequest(1, app.place[0], size=PAGE), [Errno.EINVAL], "no type of buffer")


@cases.case("unknown_type", "NPU-BUF-002")
def unknown_type(context: CaseContext) -> None:
    """An unknown type, such as 5, is rejected with EINVAL, by the callback or by the call; others are served."""
    app = BufferApp(context).supported()
    for kind in (-1, 5, 127):
        request = AllocRequest(1, app.place[0], kind, PAGE)
        errno = errno_raised(functools.partial(app.allocator.get_buffers, (request,)))
        if errno == 0:
            app.awaited(lambda: app.recorder.count("allocated", 1) > 0, f"answer to a request of type {kind}")
            errno = app.recorder.answers[-1].errno
        check_errno(errno, [Errno.EINVAL], f"type {kind}")
        app.recorder.events.clear()
    app.allocated(app.request(1))


@cases.case("defaults", "NPU-BUF-001", "NPU-BUF-006")
def defaults(context: CaseContext) -> None:
    """A buffer requested by device, type and size alone is mapped for reading only, and no file is loaded."""
    app = BufferApp(context).supported()
    buffer = app.allocated(AllocRequest(1, *app.place, PAGE))
    checks.equal(len(app.content(buffer, PAGE)), PAGE, "bytes of a mapping")
    writing = is_rejected(lambda: buffer.map(PAGE, Protection.WRITE, 0))
    checks.that(writing, "map for writing: expected a rejection by the default protection, found success")
    app.flush()
    checks.equal(app.recorder.of(1), [("allocated", 0)], "callbacks of request 1")


@cases.case("size_zero", "NPU-BUF-001", "NPU-BUF-003")
def size_zero(context: CaseContext) -> None:
    """A request that leaves the size at 0 is answered once, with success or an error; a buffer is freed."""
    app = BufferApp(context).supported()
    (answer,) = app.get(app.request(1, 0))
    checks.equal(answer.errno == 0, answer.buffer is not None, "a buffer exactly with success")
    app.flush()
    checks.equal(app.recorder.count("allocated", 1), 1, "answers to request 1")
    if answer.buffer is not None:
        app.free(1)


@cases.case("odd_sizes", "NPU-BUF-003", "NPU-BUF-006")
def odd_sizes(context: CaseContext) -> None:
    """Sizes are bytes, not pages: 1 byte, 100, a page and one more serve, and can be mapped whole."""
    app = BufferApp(context).supported()
    sizes = [size for size in (1, 100, PAGE - 1, PAGE + 1) if app.supports(app.request(size, size))]
    if not sizes:
        raise NotApplicable("the manager supports buffers of whole pages alone")
    for size in sizes:
        buffer = app.allocated(app.request(size, size))
        app.fill(buffer, pattern(size, size))
        checks.equal(app.content(buffer, size), pattern(size, size), f"content of a buffer of {size} bytes")
        app.free(size)


@cases.case("impossible_size", "NPU-BUF-003")
def impossible_size(context: CaseContext) -> None:
    """A negative size and one of 2^50 bytes are answered once with an error, and the next request is served."""
    app = BufferApp(context).supported()
    app.rejected(app.request(1, -PAGE), [], "size -4096")
    app.rejected(app.request(2, 1 << 50), [], "size 2^50")
    app.allocated(app.request(3))


@cases.case("live_id", "NPU-BUF-007")
def live_id(context: CaseContext) -> None:
    """The id of a live buffer is rejected with EINVAL and the buffer stays as it is; once freed, the id is free."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    app.fill(buffer, pattern(1, PAGE))
    errno = errno_raised(lambda: app.allocator.get_buffers((app.request(1),)))
    if errno == 0:
        app.awaited(lambda: app.recorder.count("allocated", 1) > 1, "answer to the second request")
        errno = app.recorder.answers[-1].errno
    check_errno(errno, [Errno.EINVAL], "a live id again")
    checks.equal(app.content(buffer, PAGE), pattern(1, PAGE), "content of the first buffer")
    app.free(1)
    app.allocated(app.request(1))


@cases.case("id_twice_in_a_batch", "NPU-BUF-007", "NPU-BUF-003")
def id_twice_in_a_batch(context: CaseContext) -> None:
    """For an id twice in a batch one buffer and one EINVAL come, or the whole batch is rejected with EINVAL."""
    app = BufferApp(context).supported()
    app.need_supported(app.request(1))
    errno = errno_raised(lambda: app.allocator.get_buffers((app.request(1), app.request(1))))
    check_errno(errno, [0, Errno.EINVAL], "getBuffers with an id twice")
    if errno == 0:
        app.awaited(lambda: app.recorder.count("allocated", 1) > 1, "two answers")
    app.flush()
    found = sorted(app.recorder.of(1))
    allowed = [("allocated", 0), ("allocated", Errno.EINVAL)]
    checks.member(found, [allowed] if errno == 0 else [[], allowed[:1]], "callbacks of request 1")


@cases.case("equal_ids_of_two_apps", "NPU-BUF-007")
def equal_ids_of_two_apps(context: CaseContext) -> None:
    """Ids are each client's own: two apps have a buffer 1 each, with bytes of their own."""
    apps = [BufferApp(context, uid).supported() for uid in (10_201, 10_202)]
    buffers = [app.allocated(app.request(1)) for app in apps]
    for seed, (app, buffer) in enumerate(zip(apps, buffers, strict=True)):
        app.fill(buffer, pattern(seed, PAGE))
    for seed, (app, buffer) in enumerate(zip(apps, buffers, strict=True)):
        checks.equal(app.content(buffer, PAGE), pattern(seed, PAGE), f"content of buffer 1 of uid {app.uid}")


@cases.case("equal_ids_of_two_processes", "NPU-BUF-007")
def equal_ids_of_two_processes(context: CaseContext) -> None:
    """Ids are each client's own, also where two clients are processes of one app."""
    apps = [BufferApp(context, pid=pid).supported() for pid in (5001, 5002)]
    buffers = [app.allocated(app.request(1)) for app in apps]
    for seed, (app, buffer) in enumerate(zip(apps, buffers, strict=True)):
        app.fill(buffer, pattern(seed, PAGE))
    apps[0].free(1)
    checks.equal(apps[1].content(buffers[1], PAGE), pattern(1, PAGE), "content of the other process's buffer 1")


@cases.case("id_of_a_failed_request", "NPU-BUF-007", "NPU-BUF-003")
def id_of_a_failed_request(context: CaseContext) -> None:
    """The id of a request that failed for want of room is free again."""
    app = BufferApp(context).supported()
    size = most(app)
    app.allocated(app.request(1, size))
    (answer,) = app.get(app.request(2, size))
    if answer.errno == 0:
        raise NotApplicable("the manager makes room for an equal buffer")
    app.free(1)
    pass_time(context)
    app.allocated(app.request(2, size))


@cases.case("extreme_ids", "NPU-BUF-003", "NPU-BUF-013")
def extreme_ids(context: CaseContext) -> None:
    """Ids are 64-bit numbers of the client's: 0 serves; negative ones and the largest best do, or end in EINVAL.

    No document says which ids are legal. One that serves alone also serves beside the others.
    """
    app = BufferApp(context).supported()
    served = [identifier for identifier in _EXTREME_IDS if _serves(app, identifier)]
    if refused := [identifier for identifier in _EXTREME_IDS if identifier not in served]:
        context.warn_quality(f"ids that are refused with EINVAL: {refused}")
    buffers = [app.allocated(app.request(identifier)) for identifier in (0, *served)]
    for seed, buffer in enumerate(buffers):
        app.fill(buffer, pattern(seed, PAGE))
    for seed, buffer in enumerate(buffers):
        checks.equal(app.content(buffer, PAGE), pattern(seed, PAGE), f"content of buffer {(0, *served)[seed]}")
    app.free(0, *served)


def _serves(app: BufferApp, identifier: int) -> bool:
    """Whether a buffer may have an id."""
    (answer,) = app.get(app.request(identifier))
    check_errno(answer.errno, [0, Errno.EINVAL], f"request {identifier}")
    if answer.errno == 0:
        app.free(identifier)
    return answer.errno == 0


@cases.case("snapshot_of_the_file", "NPU-BUF-004", "NPU-BUF-011")
def snapshot_of_the_file(context: CaseContext) -> None:
    """A request may be freed, its descriptor with it, once the call has returned: the file is loaded all the same."""
    app = BufferApp(context).supported()
    segment = app.segment(pattern(3, PAGE), 0, PAGE, 0)
    app.need_supported(app.request(1, segment=segment))
    app.allocator.get_buffers((app.request(1, segment=segment),))
    app.application.files.close(segment.file.descriptors[0])
    app.allocator.is_supported(())  # behind its answer the file is closed at the other side too
    app.awaited(lambda: app.recorder.count("allocated", 1) > 0, "answer to request 1")
    answer = app.recorder.answers[0]
    if answer.buffer is None:
        checks.fail("request whose file was closed after the call", "a buffer", f"errno {answer.errno}")
    checks.equal(app.content(answer.buffer, PAGE), pattern(3, PAGE), "content")


@cases.case("unsupported_fails", "NPU-BUF-008")
def unsupported_fails(context: CaseContext) -> None:
    """What isSupported denies is never allocated; it answers for each request of a list."""
    app = BufferApp(context)
    places = (*PLACES, (1_000_000, BufferType.MODEL_WEIGHTS))
    requests = tuple(AllocRequest(1 + i, device, kind, PAGE) for i, (device, kind) in enumerate(places))
    answers = app.allocator.is_supported(requests)
    checks.equal(len(answers), len(requests), "answers of isSupported")
    denied = [request for request, answer in zip(requests, answers, strict=True) if not answer]
    if not denied:
        raise NotApplicable("the manager denies support to nothing that was asked")
    for request in denied:
        what = f"unsupported device {request.device_number}, type {request.buffer_type}"
        app.rejected(request, [], what)


@cases.case("every_supported_place", "NPU-BUF-003", "NPU-BUF-008")
def every_supported_place(context: CaseContext) -> None:
    """A page is allocated for every device and type that isSupported grants, unless there is no memory for it."""
    app = BufferApp(context).supported()
    requests = tuple(AllocRequest(1 + i, device, kind, PAGE) for i, (device, kind) in enumerate(PLACES))
    answers = app.allocator.is_supported(requests)
    for answer in app.get(*itertools.compress(requests, answers)):
        check_errno(answer.errno, [0, *NO_ROOM], f"supported device and type {PLACES[answer.id - 1]}")


@cases.case("no_heap", "NPU-BUF-015")
def no_heap(context: CaseContext) -> None:
    """A type of buffer for which device 0 has no memory is answered with ENOSYS.

    Such a type is denied whatever is asked of it, also what others have; for a denial of sizes and protections no error
    is named.
    """
    app = BufferApp(context)
    served = {place for place in PLACES if any(map(app.supports, _forms(*place)))}
    missing = [kind for kind in tuple(BufferType)[1:] if (0, kind) not in served]
    if not served or not missing:
        raise NotApplicable("device 0 has memory for every type of buffer, or nothing is supported anywhere")
    form = next(index for index, asked in enumerate(_forms(*min(served))) if app.supports(asked))
    for kind in missing:
        app.rejected(_forms(0, kind)[form], [Errno.ENOSYS], f"type {kind.name} of device 0")


def _forms(device: int, kind: int) -> list[AllocRequest]:
    """Requests for a type of buffer, small and large, for readers and for writers too."""
    forms = itertools.product((Protection.READ, READ_WRITE), (PAGE, LARGEST_PAGE, MIB))
    return [AllocRequest(kind, device, kind, size, protection=protection) for protection, size in forms]


@cases.case("supported_is_stable", "NPU-BUF-008")
def supported_is_stable(context: CaseContext) -> None:
    """Support depends on the device and the type, not on the id, the callbacks, or on how many buffers live."""
    app = BufferApp(context).supported()
    asked = (app.request(1), app.request(2))
    app.need_supported(asked[0])
    checks.equal(app.allocator.is_supported(asked), (True, True), "isSupported before")
    app.allocated(app.request(1))
    checks.equal(app.allocator.is_supported(asked), (True, True), "isSupported while buffer 1 lives")


@cases.case("each_of_several", "NPU-BUF-008")
def each_of_several(context: CaseContext) -> None:
    """What is asked of several requests is asked of each: one that is denied beside others fails by itself, too."""
    app = BufferApp(context).supported()
    size = most(app)
    largest, small, twin = app.request(1, size), app.request(2), app.request(1, size)
    huge, nowhere = app.request(3, 1 << 50), AllocRequest(4, 1_000_000, app.place[1], PAGE)
    found: list[AllocRequest] = []
    for asked in itertools.permutations((largest, small, twin, huge, nowhere), 3):
        answers = app.allocator.is_supported(asked)
        checks.equal(len(answers), len(asked), "answers of isSupported")
        for denied in itertools.compress(asked, (not answer for answer in answers)):
            sizes = [request.size for request in asked]
            app.rejected(denied, [], f"a request of {denied.size} bytes that is unsupported among {sizes} bytes")
            found.append(denied)
    if not found:
        raise NotApplicable("the manager denies support to nothing that was asked")


@cases.case("priorities", "NPU-BUF-014")
def priorities(context: CaseContext) -> None:
    """Priorities of 0 to 1000 serve; others should be rejected, by the request and by setPriority."""
    app = BufferApp(context).supported()
    for identifier, priority in enumerate((0, 1, 500, 1000)):
        app.allocated(app.request(identifier, priority=priority))
        checks.succeeds(partial(app.allocator.set_priority, 0, priority), f"setPriority {priority}")
    accepted = [f"setPriority {p}" for p in (-1, 1001) if not is_rejected(partial(app.allocator.set_priority, 0, p))]
    for identifier, priority in ((10, -1), (11, 1001)):
        (answer,) = app.get(app.request(identifier, priority=priority))
        accepted += [f"a request of priority {priority}"] if answer.errno == 0 else []
    if accepted:
        context.warn_quality(f"priorities outside 0 to 1000 should be rejected; accepted: {', '.join(accepted)}")


@cases.case("flood", "NPU-BUF-003")
def flood(context: CaseContext) -> None:
    """Many requests outstanding at once are answered once each, and another app's is in between.

    Nobody promises memory for all of them: those for which there is none end in ENOMEM or the like.
    """
    app, other = BufferApp(context).supported(), BufferApp(context, 10_202).supported()
    is_apart = context.subject.process() != os.getpid()
    count = _FULL_FLOOD if context.scope is Scope.FULL and is_apart else _FLOOD
    app.need_supported(app.request(0, 64))
    app.allocator.get_buffers(tuple(app.request(one, 64) for one in range(count)))
    (beside,) = other.get(other.request(1))
    app.awaited(lambda: len(app.recorder.answers) >= count, f"{count} answers")
    app.flush()
    answered = Counter(answer.id for answer in app.recorder.answers if answer.id < count)
    wrong = [one for one in range(count) if answered[one] != 1]
    checks.that(not wrong, f"expected one answer to each request, found {answered[wrong[0]] if wrong else 1} to others")
    for one in (beside, *(answer for answer in app.recorder.answers if answer.id in answered)):
        check_errno(one.errno, [0, *NO_ROOM], f"one of {count} requests, or one beside them")
    app.free(*(answer.id for answer in app.recorder.answers if answer.errno == 0))
