"""A plug-in whose own import fails."""

import a_module_nobody_has  # type: ignore[import-not-found]  # noqa: F401
