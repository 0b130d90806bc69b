"""The steps of random scenarios about the manager, as data, so that a failure can be run again."""

from __future__ import annotations

import msgspec

from npu_conformance.specs.npu.types import Policy


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happens. uid, id: of the request; number: size, importance, level, maximum or reason.

    unit: of a policy's maximum and weights. The number of `declare` and `attribute` is 1 or 0. own: the request has
    a callback object of its own. first: the listener is that of the first decision, not of the newest. soon: the next
    step comes before anything has arrived that this one brings about.
    """

    do: str
    uid: int = 0
    id: int = 0
    number: int = 0
    priority: int = 0
    unit: int = 1
    own: bool = False
    first: bool = False
    soon: bool = False

    def __str__(self) -> str:
        text = TEXTS[self.do].format(self=self, policy=Policy(self.priority).name if self.do == "policy" else "")
        return f"{text}; and before anything arrives," if self.soon else text


TEXTS = {
    "policy": "the policy becomes {policy} maximum {self.number} times {self.unit}, the smallest weight",
    "ask": "uid {self.uid} asks for model {self.id} of size {self.number}, priority {self.priority}",
    "load": "uid {self.uid} has loaded model {self.id}",
    "unload": "uid {self.uid} has unloaded model {self.id}",
    "cancel": "uid {self.uid} cancels model {self.id}",
    "meddle": "uid {self.uid} cancels and unloads model {self.id}, which is another app's",
    "move": "uid {self.uid} comes to importance {self.number}",
    "work": "work of uid {self.uid} ends with reason {self.number}",
    "die": "all processes of uid {self.uid} die, and one starts again",
    "spawn": "uid {self.uid} starts one more process, with pid {self.number}, which asks from here on",
    "declare": "an update of uid {self.uid} declares the feature (1) or does not (0): {self.number}",
    "attribute": "uid {self.uid} may attribute work (1) or may not (0): {self.number}",
    "heat": "the thermal status becomes {self.number}",
    "shortage": "the memory pressure becomes {self.number}",
    "serve": "work that another app does for uid {self.uid} is completed",
    "wait": "unload requests that nobody has answered are overdue",
    "weigh": "the budget policy is set with parameters {self.number} of the list",
    "deny": "uid {self.uid} loses the permission, makes call {self.number} of the list, and gets it back; "
    "with the right to dump: {self.own}",
    "denied": "uid {self.uid} loses the permission, says of model {self.id} that it is cancelled (0), loaded (1) or "
    "unloaded (2): {self.number}, and gets it back",
    "refuse": "wrong arguments {self.number} of the list",
    "dump": "dump {self.number} of the list, with uid {self.uid}",
    "shell": "shell command {self.number} of the list, with uid {self.uid}",
    "system": "root or the system comes to importance {self.number}, where that can be: uid {self.uid}",
    "stranger": "work of uid {self.uid}, which has no app, is reported",
    "hal": "the HAL dies, uid {self.uid} comes to importance {self.number}, and a HAL comes",
    "suspend": "root suspends pushes",
    "resume": "root resumes pushes",
    "flag": "flag {self.id} of the list is on (1) or off (0): {self.number}",
    "update": "an update of uid {self.uid} for API {self.id} declares the feature (1) or does not (0): {self.number}",
    "reinstall": "uid {self.uid} is removed, and installed again",
    "remove": "uid {self.uid} is removed",
    "perish": "the process of uid {self.uid} with pid {self.number} dies",
    "hang_up": "the process of uid {self.uid} that asks closes its connection",
    "turn": "process {self.number} of those that uid {self.uid} has asks from here on",
    "halt": "the HAL dies, and there is none; only a push shows it: {self.own}",
    "revive": "a HAL comes",
    "patience": "unload requests may stay unanswered for {self.number} seconds",
    "flood": "uid {self.uid} asks for {self.number} models at once, of all sizes: {self.own}",
    "fill": "uid {self.uid} has loaded all that it was granted",
    "bar": "uid {self.uid} loses the permission",
    "admit": "uid {self.uid} gets the permission back",
    "begin": "work of uid {self.uid} begins",
    "finish": "work of uid {self.uid}, which has begun, is completed",
    "rest": "what is under way arrives",
    "pause": "so many thousandths of the time for an unload pass: {self.number}",
}
