"""Draws docs/report.webp: the page of a run against the reference with a fault in PAD, as headless Chromium shows it.

    python docs/draw_report.py                      # makes a small run, and the picture for the README
    python docs/draw_report.py PAGE.html --to DIR   # pictures of any page: light, dark, and as wide as a phone

Chromium is Debian's package of that name, or the program that the variable CHROMIUM names.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "report.webp"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
FAULT = ("--plugin", "npu_conformance.faults.plugin:plugin", "--plugin-option", "fault=pad-raw-zero")
RUN = ("run", "vts.generated", "vts.queries", "mlts.stress", "-k", "ADD or PAD or stress or queries", *FAULT)
_SOMETHING_IS_WRONG = 1
_DARK = "@media (prefers-color-scheme: dark)"


def chromium() -> str:
    """The program that draws. Exits where there is none."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found is None:
        sys.exit("draw_report: chromium: not found; install Debian's package chromium, or name it with CHROMIUM")
    return found


def draw(page: Path, picture: Path, width: int, height: int) -> None:
    """Draw the top of a page. width, height: of the window, in pixels."""
    with tempfile.TemporaryDirectory() as profile:
        window = (f"--user-data-dir={profile}", f"--window-size={width},{height}", f"--screenshot={picture}")
        subprocess.run([chromium(), *FLAGS, *window, page.resolve().as_uri()], check=True, capture_output=True)


def draw_all(page: Path, folder: Path) -> None:
    """Draw a page in light, in dark and as wide as a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    dark = folder / "dark.html"
    dark.write_text(page.read_text(encoding="utf-8").replace(_DARK, "@media screen"), encoding="utf-8")
    draw(page, folder / "light.png", 1280, 1600)
    draw(dark, folder / "dark.png", 1280, 1600)
    draw(page, folder / "phone.png", 500, 1600)
    dark.unlink()


def draw_reference() -> None:
    """Draw the picture of the README: the page of a small run, in which PAD is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "npu_conformance", *RUN, "-q", "--report", "report"]
        done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
        if done.returncode != _SOMETHING_IS_WRONG:
            sys.exit(f"draw_report: the run ended with {done.returncode}: {done.stderr.strip()}")
        draw(Path(folder) / "report" / "report.html", PICTURE, 1000, 1000)


def main() -> None:
    """Draw what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", metavar="PAGE", type=Path, nargs="?", help="a page; without one, of a run of its own")
    parser.add_argument("--to", metavar="DIR", type=Path, default=Path("pictures"), help="where the pictures go")
    options = parser.parse_args()
    if options.page is None:
        draw_reference()
    else:
        draw_all(options.page, options.to)


if __name__ == "__main__":
    main()
