"""What Atheris follows coverage in. It imports nothing: what is imported before Atheris begins is not followed."""

PACKAGES = ("specs", "reference", "adapters", "harness.wire")
"""What is attacked, beside the plug-in, and not the fuzzer itself."""
