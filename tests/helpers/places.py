"""Where tests find the checkout, and plug-ins wrong on purpose."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
HOSTILE = ROOT / "tests" / "hostile"
