"""Who may use vendor extensions: listed programs of the vendor's partitions, and listed apps outside the system."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.vendor import is_usable, lists
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import AppProcess
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.extensions.permission", interface="runtime", since=Version.V1_2)

_REQUIREMENTS = ("FW-EXT-001", "FW-EXT-009")
_APP_PROCESS = "/system/bin/app_process64"
_PACKAGE = "com.example.camera"


def _native(binary: str, *listed: str, allows_product: bool = True) -> AppProcess:
    return AppProcess(binary, allowlist=listed, allows_product=allows_product)


def _app(
    *listed: str,
    is_system_app: bool = False,
    on_vendor_image: bool = False,
    on_product_image: bool = False,
    allows_product: bool = True,
    binary: str = _APP_PROCESS,
) -> AppProcess:
    return AppProcess(binary, _PACKAGE, is_system_app, on_vendor_image, on_product_image, listed, allows_product)


_ODM, _VENDOR, _DATA, _PRODUCT = "/odm/bin/tool", "/vendor/bin/tool", "/data/local/tmp/tool", "/product/bin/tool"
_SYSTEM = "/system/bin/tool"

_NATIVE: dict[str, tuple[AppProcess, bool]] = {
    "odm_listed": (_native(_ODM, _ODM), True),
    "odm_unlisted": (_native(_ODM, _VENDOR), False),
    "vendor_listed": (_native(_VENDOR, _ODM, _VENDOR), True),
    "vendor_unlisted": (_native(_VENDOR), False),
    "vendor_other_listed": (_native(_VENDOR, "/vendor/bin/other"), False),
    "data_listed": (_native(_DATA, _DATA), True),
    "data_unlisted": (_native("/data/bin/tool"), False),
    "product_listed": (_native(_PRODUCT, _PRODUCT), True),
    "product_unlisted": (_native(_PRODUCT, _VENDOR), False),
    "product_denied": (_native(_PRODUCT, _PRODUCT, allows_product=False), False),
    "vendor_where_product_denied": (_native(_VENDOR, _VENDOR, allows_product=False), True),
    "folder_like_data_listed": (_native("/database/tool", "/database/tool"), False),
    "folder_like_vendor_listed": (_native("/vendors/tool", "/vendors/tool"), False),
    "folder_like_odm_listed": (_native("/odm2/tool", "/odm2/tool"), False),
    "system_listed": (_native(_SYSTEM, _SYSTEM), False),
    "system_unlisted": (_native(_SYSTEM), False),
}
_APPS: dict[str, tuple[AppProcess, bool]] = {
    "listed": (_app(_PACKAGE), True),
    "unlisted": (_app(), False),
    "other_listed": (_app("com.example.other"), False),
    "listed_32_bit": (_app(_PACKAGE, binary="/system/bin/app_process32"), True),
    "system_listed": (_app(_PACKAGE, is_system_app=True), False),
    "system_unlisted": (_app(is_system_app=True), False),
    "vendor_listed": (_app(_PACKAGE, is_system_app=True, on_vendor_image=True), True),
    "vendor_unlisted": (_app(is_system_app=True, on_vendor_image=True), False),
    "product_listed": (_app(_PACKAGE, is_system_app=True, on_product_image=True), True),
    "product_denied": (_app(_PACKAGE, is_system_app=True, on_product_image=True, allows_product=False), False),
    "vendor_where_product_denied": (
        _app(_PACKAGE, is_system_app=True, on_vendor_image=True, allows_product=False),
        True,
    ),
}
_LISTS: dict[str, tuple[AppProcess, bool]] = {
    "word_is_ignored": (_native("tool", "tool"), False),
    "package_is_no_path": (_native(_VENDOR, "vendor.bin.tool"), False),
    "path_is_whole": (_native(_VENDOR, "/vendor/bin"), False),
    "path_is_exact": (_native(_VENDOR, "/vendor/bin/tool2", "/vendor/bin/too"), False),
    "among_odd_lines": (_native(_VENDOR, "", "odd", "# comment", _VENDOR, "odd"), True),
    "package_among_odd_lines": (_app("", "camera", _PACKAGE), True),
    "package_without_dot": (AppProcess(_APP_PROCESS, "camera", allowlist=("camera",)), False),
    "package_by_part": (_app("com.example"), False),
    "app_by_its_program": (_app(_APP_PROCESS), False),
    "empty": (_app(), False),
}


def _declare(name: str, process: AppProcess, allowed: bool, *requirements: str) -> None:
    @cases.case(name, *requirements, scope=Scope.SMOKE if name in ("app.listed", "app.unlisted") else Scope.DEFAULT)
    def permission(context: CaseContext) -> None:
        """Whether a process may use an extension follows from its program or package, its image, and the list."""
        app = ScriptedApp(context, lists("one"))
        app.control.set_process(process)
        checks.equal(is_usable(app), allowed, f"whether {process.package or process.binary} may use the extension")


for _name, (_process, _allowed) in _NATIVE.items():
    _declare(f"native.{_name}", _process, _allowed, *_REQUIREMENTS)
for _name, (_process, _allowed) in _APPS.items():
    _declare(f"app.{_name}", _process, _allowed, *_REQUIREMENTS)
for _name, (_process, _allowed) in _LISTS.items():
    _declare(f"list.{_name}", _process, _allowed, "FW-EXT-010", "FW-EXT-002")
