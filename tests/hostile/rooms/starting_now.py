"""A plug-in that acts while it is imported, or that is one of the wrong ones: as the environment says."""

from __future__ import annotations

import os

from npu_conformance.specs.plugin import Plugin, Subject
from rooms.starting import IMPORTS, MANIFEST, PLUGINS, VARIABLE, Device

_room, _, _name = os.environ[VARIABLE].partition(".")
if _room == "import":
    IMPORTS[_name][3]()
    plugin: object = Plugin(MANIFEST, lambda context: Subject(device=Device()))
else:
    plugin = PLUGINS[_name][3]
