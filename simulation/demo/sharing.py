"""Two apps whose models are both loaded: the device lets the one in the foreground work first, and the other one wait.

Every app may load (status quo), so that only the scheduling HAL decides. Each inference is a long chain of operations;
between two of them the gallery's steps aside for the translator's, and goes on when that one has nothing to do.
"""

from __future__ import annotations

from npu_conformance.simulation.demo.processes import AppProcess
from npu_conformance.simulation.demo.reports import ASK, FINISH, Kind
from npu_conformance.simulation.demo.takeover import AppSpec, TakeoverScenario, Transcript
from npu_conformance.specs.npu.types import Importance, ModelSize

_ADDITIONS = 3000
"""An inference takes about a tenth of a second, so that a pause for another one outlasts the debounce time."""
_INFERENCES = 12

GALLERY = AppSpec("gallery", 10_003, "ADD", ModelSize.LESS_THAN_1GB, Importance.CACHED, _ADDITIONS)
TRANSLATOR = AppSpec("translator", 10_004, "ADD", ModelSize.LESS_THAN_1GB, Importance.FOREGROUND, _ADDITIONS)


def run(scenario: TakeoverScenario, gallery: AppProcess, translator: AppProcess) -> None:
    """Let the gallery work, the translator come and go, and the gallery go on. Raises as TakeoverScenario.run."""
    apps = (gallery, translator)
    scenario.install((GALLERY, TRANSLATOR), "set-status-quo-policy")
    scenario.start(gallery, GALLERY)
    scenario.start(translator, TRANSLATOR)
    gallery.send(ASK)
    scenario.until("the gallery works", apps, lambda: gallery.inferences > 0)
    scenario.moment("the user opens the translator")
    translator.send(ASK)
    scenario.until("the translator works", apps, lambda: translator.inferences >= _INFERENCES)
    scenario.moment("the user closes the translator")
    translator.send(FINISH)
    scenario.until("the translator ends", apps, lambda: translator.has(Kind.ENDED))
    done = gallery.inferences
    scenario.until("the gallery works again", apps, lambda: gallery.inferences > done)
    gallery.send(FINISH)
    scenario.until("the gallery ends", apps, lambda: gallery.has(Kind.ENDED))


def overtaken(transcript: Transcript) -> tuple[int, int]:
    """How many inferences the translator has had, and how many the gallery meanwhile."""
    ours = [event for event in transcript.of(TRANSLATOR.name) if event.kind is Kind.INFERENCE]
    theirs = [event for event in transcript.of(GALLERY.name) if event.kind is Kind.INFERENCE]
    if not ours:
        return 0, 0
    began, ended = ours[0].time_ns - ours[0].duration_ns, ours[-1].time_ns
    return len(ours), sum(began < event.time_ns <= ended for event in theirs)


def problems(transcript: Transcript, is_promised: bool) -> list[str]:
    """List what is wrong. is_promised: the manifest says that its executions are work of the scheduling HAL."""
    failed = [
        event for who in (GALLERY.name, TRANSLATOR.name) for event in transcript.of(who) if event.kind is Kind.FAILED
    ]
    found = [f"failed: {event.message}" for event in failed]
    ours, theirs = overtaken(transcript)
    if is_promised and 4 * theirs > ours:  # inferences while the translator thinks do not count
        found.append(f"the gallery in the background had {theirs} inferences while the translator had {ours}")
    return found
