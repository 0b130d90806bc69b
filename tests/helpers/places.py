"""The paths of the checkout, and of plug-ins that are wrong on purpose."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
HOSTILE = ROOT / "tests" / "hostile"
