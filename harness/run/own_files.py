"""The suite's own files, which somebody may replace while a run goes on, as `pip install` does."""

from __future__ import annotations

import os

import npu_conformance
from npu_conformance.specs.documents import DocumentError

_HERE = os.path.dirname(npu_conformance.__file__) + os.sep


def lost(error: Exception) -> str:
    """Why no further case can be trusted where an error says that a file of the suite is gone; empty for any other."""
    if isinstance(error, DocumentError):
        name = error.document
    elif isinstance(error, FileNotFoundError):
        name = str(error.filename)
    elif isinstance(error, ModuleNotFoundError):
        name = _HERE if str(error.name).startswith(npu_conformance.__name__) else ""
    else:
        return ""
    is_gone = name.startswith(_HERE) and (name == _HERE or not os.path.exists(name))
    return f"the suite was replaced or removed while the run went on: {name}" if is_gone else ""
