"""Restoring: as often as wanted, from any copy of the files, within deadlines; other files are rejected at once."""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import Cache, Handles, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import PreparationRecorder
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.caching.chains import Chain
from npu_conformance.vts.lib.caching.client import (
    NONE,
    ONLY_GENERAL,
    OTHER_TOKEN,
    REJECTED,
    Client,
    chain_of,
    client,
    expect_rejected,
)
from npu_conformance.vts.lib.deadlines import LATE, deadline, wait_until_over

cases = CaseGroup("vts.caching", group=Group.EXECUTION)
_HUGE = 1 << 30
_LONG = 17 << 20
"""Bytes of the very long file by message, a little more than one `file.read` gives. A device that authenticates a file
before it believes a word of it has to read all of it, and 1 GiB takes longer in base64 than it has."""


@cases.case("restoring.without_caching", "NNHAL-CACHE-009", since=Version.V1_2)
def without_caching(context: CaseContext) -> None:
    """A device that wants no cache files answers GENERAL_FAILURE, without a model, with files or without."""
    caching = Client(context)
    if caching.caches:
        raise NotApplicable("the device caches")
    expect_rejected(
        caching.restore(Handles((), ())), ONLY_GENERAL, "prepareModelFromCache of a device that does not cache"
    )


@cases.case("restoring.no_files", "NNHAL-CACHE-011", since=Version.V1_2)
def no_files(context: CaseContext) -> None:
    """Without any file nothing is restored, even where a model of this token has just been prepared."""
    caching, chain = client(context), chain_of(context)
    caching.saved(chain)
    expect_rejected(caching.restore(Handles((), ())), REJECTED, "prepareModelFromCache without files")


@cases.case("restoring.again", "NNHAL-CACHE-010", "NNHAL-CACHE-006", since=Version.V1_2)
def again(context: CaseContext) -> None:
    """A model is restored twice; both live side by side."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    restored = [caching.restore(cache.handles()) for _ in range(2)]
    for preparation in (*restored, restored[0]):
        caching.prepared_right(chain, preparation, "prepareModelFromCache, again")


@cases.case("restoring.after_refusal", "NNHAL-CACHE-010", "NNHAL-CACHE-017", since=Version.V1_2)
def after_refusal(context: CaseContext) -> None:
    """A cache that was refused changes nothing: models are saved and restored as before."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    caching.restore(cache.handles(), OTHER_TOKEN)
    try:
        other = caching.saved(chain)
    except NotApplicable:
        context.warn_quality("once a cache was refused, models are no longer saved")
        return
    for saved in (cache, other):
        restored = caching.restore(saved.handles())
        caching.prepared_right(chain, restored, "prepareModelFromCache after another cache was refused")


@cases.case("restoring.after_restart", "NNHAL-CACHE-010", since=Version.V1_2)
def after_restart(context: CaseContext) -> None:
    """A restarted driver restores what it saved before, or says that it does not: caches are for the next start."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    context.restart()
    restored = Client(context).restore(cache.handles())
    caching.right_or_rejected(chain, restored, "prepareModelFromCache after a restart")
    if outcome(restored) != NONE:
        context.warn_quality("cache files are of no use after a restart of the driver")


@cases.case("restoring.copied_files", "NNHAL-CACHE-024", since=Version.V1_2)
def copied_files(context: CaseContext) -> None:
    """Other files with the same contents in the same order are the same cache: names and paths mean nothing."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    copies = {file: context.cache_file(file.read()) for file in reversed(cache.files)}
    copy = Cache(tuple(copies[file] for file in cache.model), tuple(copies[file] for file in cache.data))
    caching.prepared_right(chain, caching.restore(copy.handles()), "prepareModelFromCache of copied files")


@cases.case("restoring.swapped_files", "NNHAL-CACHE-024", "NNHAL-CACHE-021", since=Version.V1_2)
def swapped_files(context: CaseContext) -> None:
    """Files in another order give the model that was saved, or none."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    if max(len(cache.model), len(cache.data)) < 2:
        raise NotApplicable("the device wants one file of a kind at most: none can be swapped")
    swapped = {
        "model": Cache(tuple(reversed(cache.model)), cache.data),
        "data": Cache(cache.model, tuple(reversed(cache.data))),
    }
    for kind, other in swapped.items():
        if len(getattr(cache, kind)) < 2:
            continue
        with context.configuration(kind):
            restored = caching.restore(other.handles())
            if kind == "model":
                caching.right_or_rejected(chain, restored, "prepareModelFromCache of swapped model-cache files")
            elif restored.prepared_model is not None:
                chain.execute(context, restored.prepared_model)


@cases.case("restoring.never_saved", "NNHAL-CACHE-015", "NNHAL-CACHE-022", since=Version.V1_2)
def never_saved(context: CaseContext) -> None:
    """Files that no device has written are rejected: empty ones, zeros, garbage, very long ones."""
    caching, chain = client(context), chain_of(context)
    caching.saved(chain)
    contents = {"empty": b"", "one_byte": b"\1", "zeros": bytes(4096), "garbage": bytes(range(256)) * 40}
    for name, content in contents.items():
        with context.configuration(name):
            # A device that finds nothing at all may call that a wrong argument.
            allowed = REJECTED if name == "empty" else ONLY_GENERAL
            expect_rejected(
                caching.restore(caching.cache(content).handles()), allowed, f"prepareModelFromCache, {name}"
            )
    with context.configuration("huge"):
        cache = caching.cache()
        cache.files[0].stretch(_LONG if caching.goes_by_message(cache.files[0]) else _HUGE)
        expect_rejected(caching.restore(cache.handles()), ONLY_GENERAL, "prepareModelFromCache of a very long file")


@cases.case("restoring.notified_once", "NNHAL-CACHE-023", since=Version.V1_2)
def notified_once(context: CaseContext) -> None:
    """The callback is notified once, whether the model is restored or rejected."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    for name, handles in {"restored": cache.handles(), "refused": caching.cache(b"no cache").handles()}.items():
        with context.configuration(name):
            recorder = PreparationRecorder()
            caching.restore(handles, recorder=recorder)
            _notified_once(context, recorder)


@cases.case("restoring.checks_before_return", "NNHAL-CACHE-022", since=Version.V1_2)
def checks_before_return(context: CaseContext) -> None:
    """Wrong arguments and a changed model cache are reported by the call itself, not by the callback alone."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    with context.configuration("arguments"):
        saved = cache.handles()
        few = Handles(saved.model[:-1], saved.data if saved.model else saved.data[:-1])
        launched = caching.restore(few).launch_status
        checks.status(launched, REJECTED, "prepareModelFromCache with a file too few, returned")
    with context.configuration("integrity"):
        if not cache.model:
            raise NotApplicable("the device wants no model-cache files")
        content = bytearray(cache.model[0].read())
        if not content:
            raise NotApplicable("the first model-cache file is empty")
        content[len(content) // 2] ^= 1
        cache.model[0].write(bytes(content))
        launched = caching.restore(cache.handles()).launch_status
        checks.status(launched, ONLY_GENERAL, "prepareModelFromCache with a changed model cache, returned")


@cases.case("restoring.deadlines", "NNHAL-QOS-015", "NNHAL-QOS-002", "NNHAL-QOS-008", since=Version.V1_3)
def deadlines(context: CaseContext) -> None:
    """No deadline and a far one are kept; one that has passed may be missed; AIDL rejects one below -1."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    for name, limit in {"none": context.version.unavailable_time, "far": 2**62}.items():
        with context.configuration(name), checks.about("NNHAL-QOS-002"):
            restored = caching.restore(cache.handles(), deadline=limit)
            caching.prepared_right(chain, restored, f"prepareModelFromCache, deadline {name}")
    with context.configuration("past"):
        restored = caching.restore(cache.handles(), deadline=1)
        checks.status(outcome(restored), LATE, "prepareModelFromCache, deadline in the past")
        if outcome(restored) == NONE:
            caching.prepared_right(chain, restored, "prepareModelFromCache, deadline in the past")
    if context.version.is_aidl:
        with context.configuration("below_none"), checks.about("NNHAL-QOS-008"):
            invalid = frozenset({ErrorStatus.INVALID_ARGUMENT})
            expect_rejected(
                caching.restore(cache.handles(), deadline=-2), invalid, "prepareModelFromCache, deadline -2"
            )


@cases.case("restoring.deadline_that_is_over", "NNHAL-QOS-002", "NNHAL-QOS-015", since=Version.V1_3)
def deadline_that_is_over(context: CaseContext) -> None:
    """The deadline of a restoring limits no execution of the model, and one that was missed no later restoring."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    for name in ("past", "soon"):
        with context.configuration(name):
            _limits_nothing_later(caching, chain, cache, name)


def _limits_nothing_later(caching: Client, chain: Chain, cache: Cache, name: str) -> None:
    limit = deadline(name, caching.context.version)
    limited = caching.restore(cache.handles(), deadline=limit)
    with checks.about("NNHAL-QOS-015"):
        checks.status(outcome(limited), LATE, f"prepareModelFromCache, deadline '{name}'")
    again = caching.restore(cache.handles())
    wait_until_over(caching.context, limit)
    for restored in (limited, again):
        if restored is again or outcome(restored) == NONE:
            caching.prepared_right(chain, restored, "prepareModelFromCache, whose deadline is over")


def _notified_once(context: CaseContext, recorder: PreparationRecorder) -> None:
    # A further round trip of the same connection brings whatever the device has sent before.
    context.supported_operations(addition.model())
    context.subject.wait_until(lambda: len(recorder.answers) > 1, 0.0)
    checks.equal(len(recorder.answers), 1, "number of notifications of one prepareModelFromCache")
