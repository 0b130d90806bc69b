"""The one ordered version type: NN HAL 1.0 to 1.3 (HIDL) and feature levels 5 to 8 (AIDL v1 to v4)."""

from __future__ import annotations

import enum


class Version(enum.Enum):
    """A version of the Neural Networks HAL, spelled as in documents and on the command line. Ordered by age."""

    V1_0 = "1.0"
    V1_1 = "1.1"
    V1_2 = "1.2"
    V1_3 = "1.3"
    FL5 = "fl5"
    FL6 = "fl6"
    FL7 = "fl7"
    FL8 = "fl8"

    def __init__(self, spelling: str) -> None:
        self._age = len(type(self).__members__)
        self.is_aidl = spelling.startswith("fl")
        """True for the AIDL interface (feature level 5 and later), false for HIDL."""

    @property
    def feature_level(self) -> int:
        """The level of the NNAPI runtime that came with it, 1 to 8."""
        return self._age + 1

    @property
    def unavailable_time(self) -> int:
        """The value of a time that was not measured or not given: UINT64_MAX in HIDL, -1 in AIDL."""
        return -1 if self.is_aidl else 2**64 - 1

    # Written out, since versions are compared in every inner loop: functools.total_ordering costs three times as much.
    def __lt__(self, other: object) -> bool:
        return self._age < other._age if isinstance(other, Version) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._age <= other._age if isinstance(other, Version) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._age > other._age if isinstance(other, Version) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._age >= other._age if isinstance(other, Version) else NotImplemented

    def __str__(self) -> str:
        return self.value


OLDEST = Version.V1_0
NEWEST = Version.FL8
HIDL_LAST = Version.V1_3


def parse(text: str) -> Version:
    """Return the version spelled `text`; raises ValueError naming the legal spellings."""
    try:
        return Version(text)
    except ValueError:
        legal = " ".join(version.value for version in Version)
        raise ValueError(f"unknown HAL version {text!r}: expected one of {legal}") from None
