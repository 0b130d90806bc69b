"""models.json of the zoo: the models, the packages that carry their files, the data that they are measured with."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.results import Count

Name = Annotated[str, Meta(pattern=r"^[a-z0-9]+(_[a-z0-9]+)*$(?!\n)", max_length=60)]
Text = Annotated[str, Meta(min_length=1, max_length=500)]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Bytes = Annotated[int, Meta(ge=1, le=1 << 30)]
Member = Annotated[str, Meta(pattern=r"^(?!/)(?!(.*/)?\.\.(/|$)).+$(?!\n)", max_length=300)]
"""A path inside an archive: relative, and never upwards."""
Word = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$(?!\n)", max_length=100)]
"""A word of a command line that is no option."""

MetricName = Literal[
    "top_1",
    "top_5",
    "agreement",
    "cosine",
    "mean_squared_error",
    "largest_error",
    "error_histogram",
    "snr",
    "snr_gain",
    "phone_error_rate",
    "mel_cepstral_distortion",
    "mel_cepstral_error",
    "log_f0_error",
]
"""Metrics of `mlts.lib.metrics`. Those of top-k are measured with labels, snr and snr_gain with targets, all others
with golden outputs, or with the baseline's where there are none."""


class Package(Document, frozen=True, omit_defaults=True):
    """A package of a registry, and its one file that is meant.

    sha256, bytes: of the package file as it is downloaded. source: the source distribution, else a wheel.
    python_version, platform: tags of the wheel, where there are several (pip's options of these names).
    """

    ecosystem: Literal["pypi", "npm"]
    package: Annotated[str, Meta(pattern=r"^(@[a-z0-9-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)", max_length=100)]
    version: Word
    sha256: Sha256
    bytes: Bytes
    licence: Text
    source: bool = False
    python_version: Word | None = None
    platform: Word | None = None


class StoredFile(Document, frozen=True):
    """A file of a package. path: through the archive, and on through each archive that is inside another."""

    path: Annotated[tuple[Member, ...], Meta(min_length=1, max_length=4)]
    sha256: Sha256
    bytes: Bytes


class DataSet(Document, frozen=True):
    """Files that inputs are made of; none has labels."""

    description: Text
    package: Name
    files: Annotated[tuple[StoredFile, ...], Meta(min_length=1)]


class Inputs(Document, frozen=True, omit_defaults=True):
    """Where a model's inputs come from.

    preprocessing: `picture` is MLTS's centre crop, scaled bilinearly; `spectrum` the logarithm of the energy of speech
    in bands; `uniform` are random numbers; `own` are made with the model. low, high: the range of the numbers that the
    model is given, before they are quantised. data: a data set; none for `uniform` and `own`.
    """

    preprocessing: Literal["picture", "spectrum", "uniform", "own"]
    data: Name | None = None
    low: float = -1.0
    high: float = 1.0


class Limit(Document, frozen=True, omit_defaults=True):
    """What a metric has to be on a device that conforms."""

    at_least: float | None = None
    at_most: float | None = None


class ZooEntry(Document, frozen=True, omit_defaults=True):
    """One model. package and file: of models that are fetched; the project's own have neither.

    items: how many different inputs its data has; 0 for as many as one likes. stands_for: which of the models of MLTS
    it is, or is a substitute for.
    """

    name: Name
    description: Text
    inputs: Inputs
    metrics: Annotated[tuple[MetricName, ...], Meta(min_length=1)]
    limits: dict[MetricName, Limit]
    items: Count
    stands_for: str = ""
    package: Name | None = None
    file: StoredFile | None = None


class ZooFile(Document, frozen=True):
    """The zoo."""

    format: Literal[1]
    packages: dict[Name, Package]
    data: dict[Name, DataSet]
    models: tuple[ZooEntry, ...]
