"""Pages in headless Chromium, where there is one: Debian's package, or what the variable CHROMIUM names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from pages import Page
from patience import SECONDS

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--enable-logging=stderr",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def shown(text: str, folder: Path, *flags: str) -> tuple[Page, list[str]]:
    """The page as it is after its script has run, and what the browser says of it."""
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    command = [str(CHROMIUM), *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    return Page(done.stdout), [line for line in done.stderr.splitlines() if "CONSOLE" in line]
