"""Downloads one package file by the client of its registry, with the configuration of its user."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from npu_conformance.specs.documents.zoo import Package

_SHOWN = 300
_PIP = ("--no-deps", "--no-input", "--disable-pip-version-check", "--progress-bar=off", "--require-hashes")
_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")


class FetchError(Exception):
    """A package could not be downloaded, or is another than the manifest says. The message is one line."""


def download(package: Package, folder: Path) -> Path:
    """The package file, below the given folder. Raises FetchError, and OSError where nothing can be written."""
    target = folder / "package"
    target.mkdir()
    _run(pip_command(package, folder, target) if package.ecosystem == "pypi" else _npm_command(package, target), folder)
    files = list(target.iterdir())
    if len(files) != 1:
        raise FetchError(f"{package.package}: expected one package file, found {len(files)}")
    _check(package, files[0])
    return files[0]


def pip_command(package: Package, folder: Path, target: Path) -> list[str]:
    """The command line of pip, which looks at the hash before it runs anything of a source distribution."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{package.package}=={package.version} --hash=sha256:{package.sha256}\n")
    formats = [f"--no-binary={package.package}"] if package.source else ["--only-binary=:all:"]
    tags = {"--python-version": package.python_version, "--platform": package.platform}
    words = [f"{option}={value}" for option, value in tags.items() if value is not None]
    command = [sys.executable, "-m", "pip", "download", *_PIP, *formats, *words]
    return [*command, f"--dest={target}", f"--requirement={requirements}"]


def _npm_command(package: Package, target: Path) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(f"{package.package} is a package of npm, and npm is not on the PATH")
    return [npm, "pack", *_NPM, f"--pack-destination={target}", f"{package.package}@{package.version}"]


def _run(command: Sequence[str], folder: Path) -> None:
    """Run a client. Its temporary files are in the folder too; raises FetchError with the end of what it said."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        client = "npm pack" if command[1] == "pack" else "pip download"
        raise FetchError(f"{client} failed: {_shortened(done.stdout) or f'exit code {done.returncode}'}")


def _shortened(output: str) -> str:
    """What a client says in one line: the first of its lines that say that they are errors, or else its last ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = " ".join(line for line in lines if line.lower().startswith(("error", "npm err")))
    if "DO NOT MATCH THE HASHES" in errors:
        return "the SHA-256 of the package is another than the manifest's"
    if errors:
        return errors if len(errors) <= _SHOWN else f"{errors[:_SHOWN]}..."
    return " ".join(lines[-3:])[-_SHOWN:]


def _check(package: Package, file: Path) -> None:
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != package.sha256:
        raise FetchError(f"{file.name}: its SHA-256 is {found}, the manifest says {package.sha256}")
