"""Security: a model cache that is not as the device wrote it is rejected; a changed data cache does no more harm than
wrong values. Each kind of change is made ten times at random, as in AOSP's VTS; other kinds come on top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import TOKEN, Cache, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.files import CacheFile
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.caching.chains import STEP, Chain
from npu_conformance.vts.lib.caching.client import (
    NONE,
    ONLY_GENERAL,
    OTHER_TOKEN,
    Client,
    chain_of,
    client,
    expect_rejected,
    seeds,
)
from npu_conformance.vts.lib.caching.large import LAYOUTS, LargeSum

cases = CaseGroup("vts.caching", group=Group.EXECUTION)
_PLACES = 96
"""Bits that are flipped, evenly over all model-cache files."""

_MANY_OPERATIONS = 100
"""So many additions are beyond a page of memory in any form, and within the range of every type."""

Change = Callable[[bytes, Random], bytes]
"""Makes other content of a file's."""


@cases.case("security.corrupted_model_cache", "NNHAL-CACHE-015", since=Version.V1_2)
def corrupted_model_cache(context: CaseContext) -> None:
    """A model cache with one random bit flipped in each file is rejected."""
    _changed_model_cache(context, _flip)


@cases.case("security.every_part_of_model_cache", "NNHAL-CACHE-015", since=Version.V1_2)
def every_part_of_model_cache(context: CaseContext) -> None:
    """A model cache with one bit flipped is rejected, wherever from the first byte to the last of a file it is."""
    caching = client(context)
    cache, original = _saved(caching)
    _each_part_changed(caching, cache)
    caching.prepared_right(original, caching.restore(cache.handles()), "prepareModelFromCache of the files as saved")


@cases.case("security.every_part_of_many_operations", "NNHAL-CACHE-015", since=Version.V1_2)
def every_part_of_many_operations(context: CaseContext) -> None:
    """So is the model cache of a model of many operations: what guards it guards more than its beginning."""
    caching = client(context)
    chain = replace(chain_of(context), length=_MANY_OPERATIONS, constant=STEP)
    _each_part_changed(caching, caching.saved(chain))


@cases.case("security.every_part_of_large_constants", "NNHAL-CACHE-015", since=Version.V1_2)
def every_part_of_large_constants(context: CaseContext) -> None:
    """So is the model cache of a model whose constants take more than 64 KiB, wherever the device keeps them."""
    caching, large = client(context), LargeSum(addition.supported(context))
    _each_part_changed(caching, large.saved(caching, LAYOUTS[0]))


def _each_part_changed(caching: Client, cache: Cache) -> None:
    """Flip one bit after the other, evenly over each model-cache file, and see the model rejected each time."""
    files = _filled(cache.model)
    steps = max(2, _PLACES // len(files))
    for number, file in enumerate(files):
        content = file.read()
        with caching.context.configuration(f"file_{number}"):
            for place in sorted({round(at * (len(content) - 1) / steps) for at in range(steps + 1)}):
                changed = bytearray(content)
                changed[place] ^= 1 << place % 8
                file.write(bytes(changed))
                expect_rejected(
                    caching.restore(cache.handles()), ONLY_GENERAL, f"byte {place} of {len(content)} was changed"
                )
        file.write(content)


@cases.case("security.longer_model_cache", "NNHAL-CACHE-016", since=Version.V1_2)
def longer_model_cache(context: CaseContext) -> None:
    """A model cache with 1 to 256 random bytes appended to each file is rejected."""
    _changed_model_cache(context, _append)


@cases.case("security.one_file_longer", "NNHAL-CACHE-016", since=Version.V1_2)
def one_file_longer(context: CaseContext) -> None:
    """A model cache with a byte appended to one of its files is rejected."""
    _one_file_changed(context, lambda content: content + b"\0")


@cases.case("security.shorter_model_cache", "NNHAL-CACHE-015", since=Version.V1_2)
def shorter_model_cache(context: CaseContext) -> None:
    """A model cache of which one file has lost its last byte, or half of its bytes, is rejected."""
    _one_file_changed(context, lambda content: content[:-1])
    _one_file_changed(context, lambda content: content[: len(content) // 2], "half_of_")


_ALIKE_AS_TEXT = {
    "behind_a_zero": (TOKEN[:4] + b"\0" + TOKEN[5:], TOKEN[:4] + b"\0" + TOKEN[5:-1] + b"\xff"),
    "behind_leading_zeros": (bytes(8) + TOKEN[8:], bytes(8) + TOKEN[8:-1] + b"\xff"),
    "trailing_zeros": (TOKEN[:-2] + b"\0\0", TOKEN[:-2] + b"\0\1"),
    "no_text": (TOKEN[:-1] + b"\xe4", TOKEN[:-1] + b"\xf6"),
}
"""Pairs of tokens that are one for who takes them for the text of a string."""


@cases.case("security.wrong_token", "NNHAL-CACHE-018", since=Version.V1_2)
def wrong_token(context: CaseContext) -> None:
    """A cache is rejected under a token with one bit flipped: a random one, the first or the last."""
    caching = client(context)
    cache, _ = _saved(caching)
    for name, random in seeds(context):
        with context.configuration(name):
            _expect_token_rejected(caching, cache, random.randrange(8 * len(TOKEN)))
    for name, bit in {"first_bit": 0, "last_bit": 8 * len(TOKEN) - 1}.items():
        with context.configuration(name):
            _expect_token_rejected(caching, cache, bit)
    for name, (own, other) in _ALIKE_AS_TEXT.items():
        with context.configuration(name):
            restored = caching.restore(caching.saved(chain_of(context), own).handles(), other)
            expect_rejected(restored, ONLY_GENERAL, "prepareModelFromCache by a token that is another one as bytes")


@cases.case("security.replaced_model_cache", "NNHAL-CACHE-017", since=Version.V1_2)
def replaced_model_cache(context: CaseContext) -> None:
    """The model cache of another model, saved under a token that differs in one byte, is rejected."""
    caching, chain = client(context), chain_of(context)
    cache, other = caching.saved(chain), caching.saved(replace(chain, length=5), OTHER_TOKEN)
    replaced = Cache(other.model, cache.data)
    if cache.model:  # without such files nothing is replaced
        with context.configuration("model_cache"):
            expect_rejected(caching.restore(replaced.handles()), ONLY_GENERAL, "a replaced model cache")
    with context.configuration("whole_cache"):
        expect_rejected(caching.restore(other.handles()), ONLY_GENERAL, "a cache that was replaced as a whole")


@cases.case("security.mixed_model_cache", "NNHAL-CACHE-017", "NNHAL-CACHE-021", since=Version.V1_2)
def mixed_model_cache(context: CaseContext) -> None:
    """Model-cache files of two models with one token give one of the two, or none."""
    caching, chain = client(context), chain_of(context)
    if caching.wanted.num_model_cache < 2:
        raise NotApplicable("the device wants fewer than two model-cache files")
    cache, longer = caching.saved(chain), replace(chain, length=5)
    other = caching.saved(longer)
    mixed = Cache((cache.model[0], *other.model[1:]), cache.data)
    restored = caching.restore(mixed.handles())
    if outcome(restored) != NONE:
        expect_rejected(restored, ONLY_GENERAL, "a mixed model cache")
        return
    assert restored.prepared_model is not None
    _, found = chain.execute(context, restored.prepared_model)
    right = {each.addition.packed(each.expected()) for each in (chain, longer)}
    if found not in right:
        caching.prepared_right(chain, restored, "prepareModelFromCache of a mixed model cache")


@cases.case("security.corrupted_data_cache", "NNHAL-CACHE-019", "NNHAL-CACHE-020", since=Version.V1_2)
def corrupted_data_cache(context: CaseContext) -> None:
    """A data cache with one random bit flipped in each file leads to wrong values at worst."""
    _changed_data_cache(context, _flip)


@cases.case("security.longer_data_cache", "NNHAL-CACHE-019", "NNHAL-CACHE-020", since=Version.V1_2)
def longer_data_cache(context: CaseContext) -> None:
    """A data cache with 1 to 256 random bytes appended to each file leads to wrong values at worst."""
    _changed_data_cache(context, _append)


@cases.case("security.spoiled_data_cache", "NNHAL-CACHE-019", "NNHAL-CACHE-020", since=Version.V1_2)
def replaced_data_cache(context: CaseContext) -> None:
    """Data-cache files that are shorter, empty, all ones or another model's lead to wrong values at worst."""
    caching = client(context)
    cache, chain = _saved(caching)
    files = _filled(cache.data)
    other = caching.saved(replace(chain, length=5), OTHER_TOKEN)
    contents = {
        "shorter": [file.read()[:-1] for file in files],
        "empty": [b"" for _ in files],
        "ones": [bytes([255]) * len(file.read()) for file in files],
        "of_another_model": [file.read() for file in other.data][: len(files)],
    }
    for name, changed in contents.items():
        with context.configuration(name):
            for file, content in zip(files, changed, strict=True):
                file.write(content)
            _harmless(caching, chain, cache)


def _saved(caching: Client) -> tuple[Cache, Chain]:
    chain = chain_of(caching.context)
    return caching.saved(chain), chain


def _filled(files: tuple[CacheFile, ...]) -> list[CacheFile]:
    """The files that something was saved to. NotApplicable where there are none."""
    filled = [file for file in files if file.read()]
    if not filled:
        raise NotApplicable("the device keeps nothing in such files")
    return filled


def _flip(content: bytes, random: Random) -> bytes:
    place, changed = random.randrange(len(content)), bytearray(content)
    changed[place] ^= 1 << random.randrange(8)
    return bytes(changed)


def _append(content: bytes, random: Random) -> bytes:
    return content + random.randbytes(random.randint(1, 256))


def _changed_model_cache(context: CaseContext, change: Change) -> None:
    caching = client(context)
    cache, _ = _saved(caching)

    def check() -> None:
        expect_rejected(
            caching.restore(cache.handles()), ONLY_GENERAL, "prepareModelFromCache of a changed model cache"
        )

    _each_change(context, _filled(cache.model), change, check)


def _one_file_changed(context: CaseContext, change: Callable[[bytes], bytes], prefix: str = "") -> None:
    caching = client(context)
    cache, _ = _saved(caching)
    for number, file in enumerate(_filled(cache.model)):
        with context.configuration(f"{prefix}file_{number}"):
            content = file.read()
            file.write(change(content))
            expect_rejected(
                caching.restore(cache.handles()), ONLY_GENERAL, f"prepareModelFromCache, file {number} changed"
            )
            file.write(content)


def _changed_data_cache(context: CaseContext, change: Change) -> None:
    caching = client(context)
    cache, chain = _saved(caching)
    _each_change(context, _filled(cache.data), change, lambda: _harmless(caching, chain, cache))


def _each_change(context: CaseContext, files: list[CacheFile], change: Change, check: Callable[[], None]) -> None:
    """Change all files with each seed, and check what becomes of it."""
    contents = {file: file.read() for file in files}
    for name, random in seeds(context):
        with context.configuration(name):
            for file, content in contents.items():
                file.write(change(content, random))
            check()


def _harmless(caching: Client, chain: Chain, cache: Cache) -> None:
    """Whatever the answer, it is consistent, the device lives on, and an execution writes nowhere but its output."""
    restored = caching.restore(cache.handles())
    if restored.prepared_model is not None:
        chain.execute(caching.context, restored.prepared_model)


def _expect_token_rejected(caching: Client, cache: Cache, bit: int) -> None:
    token = bytearray(TOKEN)
    token[bit // 8] ^= 1 << bit % 8
    expect_rejected(
        caching.restore(cache.handles(), bytes(token)), ONLY_GENERAL, f"prepareModelFromCache, token bit {bit} flipped"
    )
