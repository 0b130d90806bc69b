"""A plug-in that needs a variable of the environment, which nobody has set."""

from __future__ import annotations

import os

BOARD = os.environ["NPU_BOARD"]
