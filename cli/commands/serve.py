"""`npu-conformance serve`: serves a Python plug-in on a socket, for harnesses that connect."""

from npu_conformance.harness.subject.serve import add_arguments, execute

__all__ = ["add_arguments", "execute"]
