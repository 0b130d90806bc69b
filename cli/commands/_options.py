"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.harness.run.session_options import TRANSPORTS, SessionOptions


def add_plugin_options(parser: argparse.ArgumentParser, *, positional: bool = False) -> None:
    """Declare how a plug-in is named and started."""
    ways = "an entry point, package.module:name, stacked:P, shim:P, PATH.so, unix:PATH, tcp:HOST:PORT or exec:COMMAND"
    text = f"implementation under test: {ways}"
    if positional:
        parser.add_argument("plugin", metavar="PLUGIN", help=text)
    else:
        parser.add_argument("--plugin", metavar="P", action=Once, required=True, help=text)
    parser.add_argument(
        "--plugin-option", metavar="NAME=VALUE", action="append", default=[], help="option of the plug-in; repeatable"
    )
    parser.add_argument(
        "--hal", metavar="VERSION", action=Once, help="HAL version to test as: 1.0 1.1 1.2 1.3 fl5 fl6 fl7 fl8"
    )
    parser.add_argument(
        "--isolation", choices=("process", "inprocess"), default="process", help="where a Python plug-in runs"
    )
    parser.add_argument(
        "--transport",
        metavar="KIND",
        action="append",
        default=[],
        choices=TRANSPORTS,
        help="pass memory only by KIND (path, descriptor, message); repeatable, default all",
    )
    parser.add_argument(
        "--inference-tool",
        metavar="COMMAND",
        help="command that runs test inferences, with {uid} in it (docs/npu-scheduling.md)",
    )
    parser.add_argument("--inference-tool-uid", metavar="UID", type=int, help="the uid that the command always runs as")
    parser.add_argument(
        "--reset-command",
        metavar="COMMAND",
        help="command that brings the device back after a crash or a hang (docs/drivers-in-other-languages.md)",
    )
    parser.add_argument("--reset-seconds", metavar="SECONDS", type=float, help="how long that may take (default: 120)")
    parser.add_argument(
        "--longest-wait",
        metavar="SECONDS",
        type=float,
        help="never wait longer than SECONDS for an answer or an import, whatever deadlines and time_scale the "
        "manifest sets",
    )
    parser.add_argument(
        "--patience",
        metavar="FACTOR",
        type=float,
        default=1.0,
        help="multiply all timeouts by FACTOR, for a driver stopped in a debugger (docs/diagnostics.md)",
    )


class Once(argparse.Action):
    """Refuses a second value: two factors of a tox environment, or two filters, would else pass for one."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: object, *_: object
    ) -> None:
        """Take the first value."""
        before = getattr(namespace, self.dest)
        if before not in (None, ""):
            parser.error(f"{self.option_strings[0]}: expected one value, found {before} and {value}")
        setattr(namespace, self.dest, value)


BESIDE_EXAMPLE = ", for example litert"


def add_beside_options(parser: argparse.ArgumentParser, which: str = BESIDE_EXAMPLE) -> None:
    """Declare the second implementation, which figures are compared with. which: ends its help."""
    about = f"also measure this plug-in, and judge accuracy against it{which}"
    parser.add_argument("--beside", metavar="P", action=Once, help=about)
    parser.add_argument(
        "--beside-option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="option of the --beside plug-in; repeatable",
    )


def add_wire_log_option(parser: argparse.ArgumentParser) -> None:
    """Declare the log of the wire."""
    parser.add_argument(
        "--wire-log", metavar="FILE", type=Path, help="write every message to and from the plug-in, one line each"
    )


def add_catalogue_option(parser: argparse.ArgumentParser) -> None:
    """Declare the folders of vendors' own extensions, which are registered while the command runs."""
    parser.add_argument(
        "--catalogue",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="catalogue of a vendor's own extension (docs/extensions.md); repeatable",
    )


def add_selection_options(
    parser: argparse.ArgumentParser,
    metavar: str = "SUITE|ID",
    targets: str = "suites (vts cts fuzz mlts), case ids or globs; @FILE stands for the lines of a file",
) -> None:
    """Declare which cases are meant. metavar, targets: what the words of the command line are, and their help."""
    parser.add_argument("targets", metavar=metavar, nargs="*", help=targets)
    parser.add_argument(
        "-k",
        dest="expression",
        metavar="EXPR",
        action=Once,
        default="",
        help="select ids by words combined with and, or, not, ()",
    )
    parser.add_argument("--scope", choices=("smoke", "default", "full"), default="default", help="how much to run")
    parser.add_argument(
        "--vectors",
        metavar="PATH",
        type=Path,
        action="append",
        default=[],
        help="external vectors to run with the stored ones; repeatable",
    )
    add_catalogue_option(parser)


def session_options(options: argparse.Namespace, **more: object) -> SessionOptions:
    """Return the options of a session from a parsed command line; `more` overrides them."""
    given = {
        "plugin": options.plugin,
        "plugin_options": tuple(options.plugin_option),
        "hal": options.hal,
        "isolation": options.isolation,
        "transports": tuple(options.transport),
        "inference_tool": options.inference_tool,
        "inference_tool_uid": options.inference_tool_uid,
        "reset_command": options.reset_command,
        "reset_seconds": options.reset_seconds,
        "longest_wait": options.longest_wait,
        "patience": options.patience,
        "catalogues": tuple(map(str, getattr(options, "catalogue", ()))),
        "beside": getattr(options, "beside", None),
        "beside_options": tuple(getattr(options, "beside_option", ())),
    }
    return SessionOptions(**{**given, **more})
