"""Hostile histories of compilation caches: files whole, damaged, mixed, of other models and tokens, changing meanwhile.

Findings: a preparation that wrong cache arguments disturb, a restored model that is not the one that was saved, a
change that is not noticed, a cache that was restored and is refused, an undocumented status; a crash, a hang, a leak.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.cache_target import CacheTarget
from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer(
    "cache",
    "histories of compilation caches: files and tokens",
    "device",
    lambda found: CacheTarget(found.subject),
)
_SHORT = ShortCase(
    "cache",
    ("NNHAL-CACHE-015", "FUZ-001", "NNHAL-CACHE-001", "NNHAL-CACHE-010", "NNHAL-CACHE-021"),
    "A device survives {runs} histories of caches: what it restores is right, or refused.",
    "One history of caches.",
    lambda context: CacheTarget(context.subject),
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
