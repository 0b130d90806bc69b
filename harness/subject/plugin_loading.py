"""Finding a plug-in: an entry point's name, `package.module:name`, a shared library. Every error is one line."""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from npu_conformance import specs
from npu_conformance.harness.python_processes import look_in_current_folder
from npu_conformance.specs import documents
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.plugin import Plugin
from npu_conformance.specs.suggestions import did_you_mean

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.specs.manifest import Manifest
    from npu_conformance.specs.versions import Version

_LIBRARY = os.path.dirname(os.__file__) + os.sep
_SPECS = os.path.dirname(specs.__file__) + os.sep
GROUP = "npu_conformance.plugins"
# The bundled plug-ins, so that the usual case need not search the installed distributions (25 ms).
_BUNDLED = {name: f"npu_conformance.adapters.{name}:plugin" for name in ("reference", "litert", "tflm", "onnx")}

_LIBRARIES = "npu_conformance.adapters.nnapi_c.plugin"
"""The module whose `of_library` makes the plug-in of a shared library from its path."""


_LONGEST = 2000
"""Characters of an error."""

STACKED = "stacked:"
"""Before the spec of a plug-in with a device: the reference runtime on top of it."""

_STACKING = "npu_conformance.adapters.stacked.plugin"
"""The module whose `over` and `over_elsewhere` make a plug-in with a runtime from one without."""

SHIM = "shim:"
"""Before the spec of a plug-in with a runtime: one of its devices as a driver."""

_SHIM = "npu_conformance.adapters.runtime_device.shim"
"""The module whose `present` adds a device to a subject with a runtime."""

_ENGINE = ("npu_conformance.adapters.engine_interface", "Engine")
"""The module and the name of the class that engines inherit from."""

ELSEWHERE = ("unix:", "tcp:", "exec:")
"""Before the address or the command of a driver in another process."""


class LoadError(Exception):
    """A plug-in cannot be loaded or reached. The text is one line that says why."""

    def __init__(self, text: str) -> None:
        """text: cut and escaped, as it may contain what a plug-in says."""
        super().__init__(one_line(text, _LONGEST))


def load_plugin(spec: str) -> Plugin:
    """Import the plug-in that `spec` names. Raises LoadError."""
    if spec.startswith(STACKED):
        return _stacked(spec)
    if spec.startswith(SHIM):
        raise LoadError(f"plug-in {spec}: the shim stands in the harness; name {spec.removeprefix(SHIM)} here")
    if spec.startswith(ELSEWHERE):
        raise LoadError(f"plug-in {spec} is another process; expected one that Python loads: MODULE:NAME or PATH.so")
    if is_library(spec):
        made: Plugin = _import(spec, _LIBRARIES).of_library(spec)
        return made
    target = target_of(spec)
    module_name, _, attribute = target.partition(":")
    if not all(word.isidentifier() for word in module_name.split(".")):
        raise LoadError(f"plug-in {spec}: {module_name!r} is not the name of a module{_module_meant(module_name)}")
    if ":" in spec:
        look_in_current_folder()
    found: Any = _import(spec, module_name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise LoadError(
                f"plug-in {spec}: module {module_name} has no {attribute}{did_you_mean(part, _public(found))}"
            )
        found = getattr(found, part)
    if not isinstance(found, Plugin):
        wanted = f"not a npu_conformance.specs.plugin.Plugin{_made_of(found)}"
        raise LoadError(f"plug-in {spec}: {target} is {_article(found)}, {wanted}")
    return found


def target_of(spec: str) -> str:
    """`module:name` of a plug-in that Python loads, which may be an entry point's name. Raises LoadError."""
    return spec if ":" in spec else _BUNDLED.get(spec) or _entry_point(spec)


def raised(what: str, error: BaseException) -> LoadError:
    """What an exception of the plug-in's own comes to. what: its spec, and what it did if that is known."""
    name = "" if isinstance(error, DocumentError) else f"{type(error).__name__}: "
    return LoadError(f"plug-in {what}: {where(error)}: {name}{error}")


def manifest_of(plugin: Plugin, spec: str, options: Mapping[str, str]) -> Manifest:
    """What the plug-in says of itself under these options. Raises LoadError where it says nothing, or breaks a rule."""
    try:
        return plugin.describe(options)
    except LoadError:
        raise
    except ValueError as error:
        raise LoadError(f"plug-in {spec}: manifest: {error}") from None
    except Exception as error:  # whatever the plug-in raises while it describes itself
        raise raised(f"{spec}: manifest", error) from None


def with_version(plugin: Plugin, spec: str, options: Mapping[str, str], version: Version | None) -> dict[str, str]:
    """The options, with the wanted HAL version where the plug-in has an option `hal` and it is not given.

    Raises LoadError as `manifest_of` does.
    """
    if version is None or "hal" in options or "hal" not in manifest_of(plugin, spec, options).options:
        return dict(options)
    return {**options, "hal": version.value}


def is_elsewhere(spec: str) -> bool:
    """True for what cannot live in the harness's process: it is another one, or is to end with one."""
    if spec.startswith(SHIM):
        return is_elsewhere(spec.removeprefix(SHIM))
    below = spec.removeprefix(STACKED)
    return below.startswith(ELSEWHERE) or (below != spec and below.startswith(SHIM))


def shimmed(subject: SubjectHandle, spec: str, options: Mapping[str, str], version: Version | None) -> SubjectHandle:
    """The subject with a device of its runtime. Raises LoadError, and closes the subject, where it has none to show.

    spec: of the subject. options: of the shim and the subject. version: to test as, None for the device's own.
    """
    made: SubjectHandle = _import(SHIM + spec, _SHIM).present(subject, spec, options, version)
    return made


def _stacked(spec: str) -> Plugin:
    below = spec.removeprefix(STACKED)
    stacking = _import(spec, _STACKING)
    made: Plugin
    if below.startswith((*ELSEWHERE, SHIM)):
        made = stacking.over_elsewhere(below, replaces_runtime=below.startswith(SHIM))
    else:  # the device of a library is one of its runtime's, as Android's own runtime takes a support library
        made = stacking.over(load_plugin(below), replaces_runtime=is_library(below))
    return made


def is_library(spec: str) -> bool:
    """True for the path of a shared library: `libneuralnetworks.so`, also with a version behind it."""
    return re.search(r"\.so(\.\d+)*$", spec) is not None


def installed() -> dict[str, str]:
    """The plug-ins that are installed: name to `module:attribute`."""
    from importlib.metadata import entry_points

    return {**_BUNDLED, **{point.name: point.value for point in entry_points(group=GROUP)}}


def _entry_point(name: str) -> str:
    known = installed()
    if name not in known:
        meant = _module_meant(name) or _command_meant(name) or did_you_mean(name, known)
        raise LoadError(
            f"unknown plug-in {name!r}{meant}; known: {', '.join(sorted(known))}; "
            "or package.module:name, PATH.so, unix:PATH, tcp:HOST:PORT, exec:COMMAND, stacked:P, shim:P"
        )
    return known[name]


def _module_meant(name: str) -> str:
    """Suggest the module that `package/module.py` or `package.module` of the current folder is; empty if none is."""
    named = name.removeprefix("./")
    path = os.path.normpath(named if named.endswith(".py") else named.replace(".", os.sep) + ".py")
    words = path.removesuffix(".py").split(os.sep)
    is_module = os.path.isfile(path) and all(word.isidentifier() for word in words)
    return f" (did you mean {'.'.join(words)}:plugin?)" if is_module else ""


def _command_meant(name: str) -> str:
    """Suggest that a program which was named like a plug-in is a command that speaks the protocol."""
    is_program = os.sep in name and os.path.isfile(name) and os.access(name, os.X_OK)
    return f" (did you mean exec:{name}?)" if is_program else ""


def _public(found: object) -> list[str]:
    return [name for name in dir(found) if not name.startswith("_")]


def _article(found: object) -> str:
    if isinstance(found, type):
        return f"the class {found.__name__}"
    name = "module" if isinstance(found, ModuleType) else type(found).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _made_of(found: object) -> str:
    """How a plug-in is made of an engine that is none yet; empty for anything else."""
    kind = found if isinstance(found, type) else type(found)
    if _ENGINE not in {(base.__module__, base.__name__) for base in kind.__mro__}:
        return ""
    engine = f"{kind.__name__}()" if kind is found else "ENGINE"
    return f"; npu_conformance.adapters.engine.engine_plugin({engine}, vendor=...) makes one"


def _import(spec: str, module_name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise LoadError(f"plug-in {spec}: no module named {error.name}{_where_looked(error.name)}") from None
        raise LoadError(f"plug-in {spec}: {where(error)}: {error}") from None
    except LoadError as error:
        raise LoadError(f"plug-in {spec}: {error}") from None
    except (Exception, SystemExit) as error:
        raise raised(spec, error) from None


def _where_looked(name: str) -> str:
    package = sys.modules.get(name.rpartition(".")[0])
    places = list(getattr(package, "__path__", [])) if "." in name else [os.getcwd()]
    closed = [place for place in places if os.path.isdir(place) and not os.access(place, os.R_OK | os.X_OK)]
    if closed:
        return f": {closed[0]} may not be read by this user"
    if "." in name:  # its package was found
        return ""
    return f": it is neither installed nor in the current folder; start in the folder that holds {name}"


def where(error: BaseException) -> str:
    """File and line of the innermost frame that is neither of Python's own library nor of the suite's contract."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_pythons(frame.filename)]
    frames = [frame for frame in frames if not frame.filename.startswith(_SPECS)] or frames
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "while importing"


def _is_pythons(file: str) -> bool:
    """True for a file of the standard library, and for what is compiled into the interpreter."""
    return file.startswith(("<frozen ", _LIBRARY)) and "site-packages" not in file


def read_key(path: str) -> str:
    """The key in a file that the user names. Raises LoadError."""
    try:
        return documents.content(Path(path), named=True).decode().strip()
    except DocumentError as error:
        raise LoadError(f"key file {error}") from None
    except UnicodeDecodeError:
        raise LoadError(f"key file {path}: is not a text") from None
