"""Objects that cross a connection: numbers for the ones given away, proxies for the ones received.

The driver's side numbers its objects 1, 2, 3, ..., the harness's side -1, -2, -3, ...: a number says whose it is.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any

from npu_conformance.harness.wire.binding import Proxy, proxy_class
from npu_conformance.harness.wire.fences import HeldFence
from npu_conformance.harness.wire.protocol import FenceNews, Release
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.fences import SettableFence


class _Exported:
    __slots__ = ("sent", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        self.sent = 0


class ObjectTable:
    """Both directions of one connection. sign: +1 on the driver's side, -1 on the harness's."""

    def __init__(self, connection: Any, sign: int) -> None:
        self._connection = connection
        self._sign = sign
        self._exported: dict[int, _Exported] = {}
        self._numbers: dict[int, int] = {}
        self._last = 0
        self._proxies: dict[int, weakref.ref[Any]] = {}
        self._dropped: deque[Release] = deque()
        self._fresh: list[tuple[int, SettableFence]] = []
        self._fence_states: dict[int, int] = {}
        self._watched: set[HeldFence] = set()
        self._lock = threading.Lock()

    def number_of(self, value: Any) -> int:
        """Return the number by which the other side knows, or from now on will know, an object."""
        if isinstance(value, Proxy):
            if value._connection is not self._connection:
                raise DeadObject("an object of another connection cannot be passed here")
            return value._number
        with self._lock:
            number = self._numbers.get(id(value))
            if number is None:
                self._last += 1
                number = self._numbers[id(value)] = self._sign * self._last
                self._exported[number] = _Exported(value)
                if self._sign < 0 and isinstance(value, SettableFence):
                    self._fresh.append((number, value))
            self._exported[number].sent += 1
            return number

    def object_of(self, number: int, interface: type) -> Any:
        """Return the object a received number means. Raises DeadObject for one that is not, or no longer, known.

        Raises ValueError for 0, and for one that is an object of another interface.
        """
        if number * self._sign > 0:
            return self.own(number, interface)
        if number == 0:
            raise ValueError("0 names no object")
        with self._lock:
            reference = self._proxies.get(number)
            proxy: Any = reference() if reference else None
            if proxy is None:
                proxy = self._new_proxy(number, interface)
            elif not isinstance(proxy, interface):
                raise ValueError(f"object {number} is no {interface.__name__}")
            proxy._received += 1
        return proxy

    def own(self, number: int, interface: type) -> Any:
        """Return an object of this side. Raises DeadObject where it was released, ValueError where it never was."""
        exported = self._exported.get(number)
        if exported is None:
            if 0 < number * self._sign <= self._last:
                raise DeadObject(f"object {number} was released")
            raise ValueError(f"object {number} was never given")
        if not isinstance(exported.value, interface):
            raise ValueError(f"object {number} is no {interface.__name__}")
        return exported.value

    def dropped(self, number: int, received: int) -> None:
        """Note that a proxy was garbage collected; the next message tells the other side."""
        self._dropped.append(Release(number, received))

    def take_dropped(self) -> Release | None:
        """Return a release that is to be sent, or None."""
        if not self._dropped:
            return None
        release = self._dropped.popleft()
        with self._lock:
            reference = self._proxies.get(release.object)
            if reference is not None and reference() is None:
                del self._proxies[release.object]
                self._fence_states.pop(release.object, None)
        return release

    def take_fresh_fences(self) -> list[tuple[int, SettableFence]]:
        """Return the fences that the other side does not know yet, with their numbers."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def watch(self, number: int, fence: SettableFence) -> None:
        """Tell the other side, while it may use the fence, when it is settled."""

        def tell(state: int) -> None:
            if number in self._exported:
                self._connection.tell("fence.state", FenceNews(number, state))

        fence.watch(tell)

    def fence_news(self, news: FenceNews) -> None:
        """Take the harness's notification of the state of one of its fences."""
        with self._lock:
            self._fence_states[news.object] = news.state
            reference = self._proxies.get(news.object)
            fence = reference() if reference else None
        if isinstance(fence, HeldFence) and news.state != FenceState.UNSIGNALLED:
            fence.settle(news.state)
            self.forget(fence)

    def keep(self, fence: HeldFence) -> None:
        """Hold a fence of the other side until it is settled."""
        self._watched.add(fence)

    def forget(self, fence: HeldFence) -> None:
        """Let go of a settled fence: from here on it belongs to those that were notified."""
        self._watched.discard(fence)

    def release(self, release: Release) -> None:
        """Forget an object that the other side dropped, unless it was sent again meanwhile."""
        with self._lock:
            exported = self._exported.get(release.object)
            if exported is None:
                return
            exported.sent -= release.count
            if exported.sent <= 0:
                del self._exported[release.object]
                del self._numbers[id(exported.value)]

    def clear(self) -> None:
        """Let go of everything: the connection is gone. Fences of the other side will never signal."""
        with self._lock:
            exported, self._exported, self._numbers = self._exported, {}, {}
            held = [reference() for reference in self._proxies.values()]
        for fence in held:
            if isinstance(fence, HeldFence):
                fence.fail()
        self._watched.clear()
        exported.clear()  # outside of the lock, which what ends with an object may need

    def _new_proxy(self, number: int, interface: type) -> Any:
        state = self._fence_states.get(number)
        proxy = proxy_class(interface)() if state is None or interface is not hal.Fence else HeldFence()
        proxy._connection = self._connection
        proxy._number = number
        proxy._received = 0
        if isinstance(proxy, HeldFence) and state is not None:
            proxy.settle(state)
        self._proxies[number] = weakref.ref(proxy)
        return proxy
