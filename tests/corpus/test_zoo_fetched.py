"""Models of the zoo that are fetched: their data, and how it becomes inputs. Nothing here is downloaded."""

from __future__ import annotations

import hashlib
import io
import json
import math
import wave
from pathlib import Path
from typing import Any

import numpy
import pytest

from npu_conformance.corpus import zoo
from npu_conformance.corpus.importers.tflite import importing
from npu_conformance.corpus.importers.tflite.variables import State as TfliteState
from npu_conformance.corpus.vector_types import Vector, VectorOperand
from npu_conformance.corpus.zoo import data, manifest
from npu_conformance.corpus.zoo.cache import folder, place
from npu_conformance.corpus.zoo.fetched import truncated
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

Array = numpy.ndarray[Any, Any]


def wav(samples: Array, rate: int = 16000, channels: int = 1) -> bytes:
    """A .wav file of samples in -1..1."""
    stream = io.BytesIO()
    with wave.open(stream, "wb") as opened:
        opened.setnchannels(channels)
        opened.setsampwidth(2)
        opened.setframerate(rate)
        opened.writeframes((samples * 32767).astype("<i2").tobytes())
    return stream.getvalue()


def test_the_manifest_keeps_its_own_rules() -> None:
    assert manifest.zoo().format == 1
    for entry in manifest.entries():
        files = list(manifest.files_of(entry))
        assert bool(files) != zoo.is_own(entry)
        data_set = manifest.data_of(entry)
        assert entry.items == (len(data_set.files) if data_set and entry.inputs.preprocessing == "picture" else 0)


def test_the_manifest_has_what_requirements_ask_for() -> None:
    """ML-MOD-001: MobileNets, and an LSTM each for speech in and speech out, or a substitute that is named."""
    named = " ".join(entry.stands_for for entry in manifest.entries())
    for wanted in ("MobileNet v1", "MobileNet v2, float", "unsigned 8-bit", "LSTM for TTS", "LSTM for ASR"):
        assert wanted in named


@pytest.mark.parametrize("name", [entry.name for entry in manifest.entries() if not zoo.is_own(entry)])
def test_a_model_that_is_not_fetched_says_how(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_CONFORMANCE_MODELS", str(tmp_path))
    with pytest.raises(zoo.NotFetched, match=f"run `npu-conformance models fetch {name}`"):
        zoo.load(name)


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, shared, home = (tmp_path / name for name in ("own", "shared", "home"))
    monkeypatch.setenv("NPU_CONFORMANCE_MODELS", str(own))
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    monkeypatch.setenv("HOME", str(home))
    assert folder() == own
    monkeypatch.delenv("NPU_CONFORMANCE_MODELS")
    assert folder() == shared / "npu-conformance" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert folder() == home / ".cache" / "npu-conformance" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert folder() == home / ".cache" / "npu-conformance" / "models"


class Fetched:
    """A zoo with one fetched model, whose file the importer takes for a given vector."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self._file = tmp_path / "models.json"
        monkeypatch.setenv("NPU_CONFORMANCE_MODELS", str(tmp_path / "cache"))
        monkeypatch.setattr(manifest, "FILE", self._file)

    def load(self, operand: VectorOperand, inputs: dict[str, Any], data_file: bytes = b"", states: int = 0) -> Any:
        """The model, with one input and so many states."""
        content = b"a model"
        stored = {"path": ["m.tflite"], "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        more = {"path": ["d.bin"], "sha256": hashlib.sha256(data_file).hexdigest(), "bytes": len(data_file) or 1}
        package = {"ecosystem": "pypi", "package": "p", "version": "1", "sha256": "0" * 64, "bytes": 1, "licence": "x"}
        entry = {"name": "m", "description": "m", "inputs": inputs, "metrics": ["cosine"], "limits": {}, "items": 0}
        document = {
            "format": 1,
            "packages": {"p": package},
            "data": {"d": {"description": "d", "package": "p", "files": [more]}},
            "models": [{**entry, "package": "p", "file": stored}],
        }
        self._file.write_text(json.dumps(document))
        manifest.zoo.cache_clear()
        for name, file, written in (
            ("m", zoo.entry("m").file, content),
            ("d", manifest.zoo(self._file).data["d"].files[0], data_file),
        ):
            assert file is not None
            place(name, file).parent.mkdir(parents=True)
            place(name, file).write_bytes(written)
        port = importing.Port("serving_input", "a0", operand.dimensions, "INT8", operand.scale, operand.zero_point)
        ends = tuple(TfliteState(f"s{n}", f"t{n}", numpy.zeros(1, numpy.int8)) for n in range(states))
        vector = Vector("m", "ADD", Version.V1_3, {"a0": operand}, (), ("a0",), ())
        model = importing.TfliteModel(vector, (port,), (), ends)
        self._patch.setattr(importing, "read", {place("m", zoo.entry("m").file): model}.__getitem__)  # type: ignore[arg-type]
        return zoo.load("m")


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetched:
    """A zoo of the test's own."""
    return Fetched(tmp_path, monkeypatch)


INT8 = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
FLOAT = OperandType.TENSOR_FLOAT32


def test_random_inputs_fill_their_range(fetched: Fetched) -> None:
    model = fetched.load(VectorOperand(INT8, (1, 30), 0.5, 10), {"preprocessing": "uniform", "low": -4.0, "high": 3.0})
    samples = model.samples(40)
    inputs = samples.inputs["a0"]
    assert (inputs.dtype, inputs.shape, samples.sequence_length) == (numpy.int8, (40, 1, 30), 1)
    # -4 / 0.5 + 10 and 3 / 0.5 + 10
    assert (inputs.min(), inputs.max()) == (2, 16)
    assert samples.labels is None
    assert samples.goldens is None


def test_speech_goes_on_within_a_sequence(fetched: Fetched) -> None:
    noise = numpy.random.default_rng(1).uniform(-0.5, 0.5, 16000 * 5)
    inputs = {"preprocessing": "spectrum", "data": "d", "low": 0.0, "high": 26.0}
    model = fetched.load(VectorOperand(FLOAT, (1, 3, 40)), inputs, wav(noise), states=2)
    samples = model.samples(2)
    assert [state[:2] for state in model.states] == [("s0", "t0"), ("s1", "t1")]
    assert samples.inputs["a0"].shape == (2 * samples.sequence_length, 1, 3, 40)
    frames = samples.inputs["a0"].reshape(2, samples.sequence_length * 3, 40)
    # All frames of the recording, as one stretch: each sequence is a part of it without gaps.
    whole = data.spectra(wav(noise), (1, 249, 40), 1, 1, 0)[0, 0] * 26.0
    for sequence in frames:
        starts = [at for at in range(len(whole)) if numpy.allclose(whole[at], sequence[0], atol=1e-5)]
        assert len(starts) == 1
        numpy.testing.assert_allclose(whole[starts[0] :][: len(sequence)], sequence, atol=1e-5)


def test_damaged_data_is_not_used(fetched: Fetched) -> None:
    inputs = {"preprocessing": "spectrum", "data": "d"}
    model = fetched.load(VectorOperand(FLOAT, (1, 3, 40)), inputs, wav(numpy.zeros(16000)))
    stored = manifest.zoo(manifest.FILE).data["d"].files[0]
    place("d", stored).write_bytes(b"something else")
    with pytest.raises(zoo.NotFetched, match="is damaged"):
        model.samples(1)


def test_what_mlts_quantises_it_cuts_off() -> None:
    values = numpy.array([0.0, 0.99, 1.0, -0.99, -1.5, 300.0])
    signed = truncated(VectorOperand(INT8, (6,), 1.0, 0), values)
    assert signed.tolist() == [0, 0, 1, 0, -1, 127]
    unsigned = truncated(VectorOperand(OperandType.TENSOR_QUANT8_ASYMM, (6,), 1.0, 2), values)
    assert unsigned.tolist() == [2, 2, 3, 1, 0, 255]
    assert truncated(VectorOperand(FLOAT, (6,)), values).tolist() == pytest.approx(values.tolist(), rel=1e-6)


def test_a_tone_is_in_its_band() -> None:
    """Each tone is loudest in the band whose middle on the mel scale is nearest."""
    edges = [700 * (math.exp(mel / 1127) - 1) for mel in numpy.linspace(data._mel(100.0), data._mel(7600.0), 22)]
    times = numpy.arange(16000) / 16000
    for band in (4, 10, 19):
        tone = 0.5 * numpy.sin(2 * numpy.pi * edges[band + 1] * times)
        levels = data.spectra(wav(tone), (1, 40, 20), 1, 1, 0)[0, 0]
        assert set(levels.argmax(axis=1)) == {band}
        assert levels.min() >= 0.0
        assert levels.max() <= 1.0


def test_two_shapes_of_spectra_have_frames_first() -> None:
    file = wav(numpy.random.default_rng(1).uniform(-0.5, 0.5, 32000))
    flat, deep = data.spectra(file, (1, 20, 10, 1), 2, 1, 3), data.spectra(file, (1, 20, 1, 10), 2, 1, 3)
    assert (flat.shape, deep.shape) == ((2, 1, 20, 10, 1), (2, 1, 20, 1, 10))
    numpy.testing.assert_array_equal(flat.ravel(), deep.ravel())


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"RIFF", "a recording cannot be read"),
        (wav(numpy.zeros(100), rate=8000), r"found \(1, 2, 8000\)"),
        (wav(numpy.zeros(100), channels=2), r"found \(2, 2, 16000\)"),
        (wav(numpy.zeros(4000)), "the recording has 12 frames, 40 are needed"),
    ],
)
def test_recordings_that_are_none(file: bytes, message: str) -> None:
    with pytest.raises(data.DataError, match=message):
        data.spectra(file, (1, 40, 10), 1, 1, 0)


def test_the_middle_of_a_picture_is_cut_out() -> None:
    """0.875 of the smaller side (ML-ACC-007)."""
    picture = numpy.arange(16 * 24).reshape(16, 24, 1)
    cut = data.cropped(picture)
    assert cut.shape == (14, 14, 1)
    assert cut[0, 0, 0] == picture[1, 5, 0]
    assert data.cropped(picture, (0.0, 1.0))[0, 0, 0] == picture[0, 10, 0]
    assert data.cropped(picture, (1.0, 0.0))[-1, 0, 0] == picture[15, 0, 0]


def test_bilinear_scaling_by_hand() -> None:
    row = numpy.array([[[0.0], [4.0]]])
    assert data.scaled(row, (1, 4)).ravel().tolist() == [0.0, 1.0, 3.0, 4.0]
    assert data.scaled(row, (2, 2)).ravel().tolist() == [0.0, 4.0, 0.0, 4.0]
    assert data.scaled(numpy.array([[[0.0], [2.0], [4.0], [6.0]]]), (1, 2)).ravel().tolist() == [1.0, 5.0]
    assert data.scaled(row, (1, 1)).ravel().tolist() == [2.0]


def test_pictures_need_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(data.DataError, match=r"pip install \"npu-conformance\[mlts\]"):
        data.pictures([b""], (1, 4, 4, 3), 1, 0)


def png(colour: tuple[int, int, int]) -> bytes:
    """A picture of one colour, brighter to the right."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    points = numpy.zeros((16, 20, 3), numpy.uint8) + numpy.array(colour, numpy.uint8)
    points[:, 10:] += 50
    stream = io.BytesIO()
    image.fromarray(points).save(stream, "PNG")
    return stream.getvalue()


def test_each_picture_occurs_once_before_any_occurs_twice() -> None:
    files = [png((red, 10, 20)) for red in (10, 60, 110)]
    found = data.pictures(files, (1, 8, 8, 3), 5, seed=2)
    assert found.shape == (5, 1, 8, 8, 3)
    # Half of each is 50 brighter: the left one, or the right one where it is mirrored.
    reds = [round(float(picture[..., 0].min()) * 255) for picture in found]
    assert sorted(reds[:3]) == [10, 60, 110]
    assert reds[3:] == reds[:2]
    numpy.testing.assert_array_equal(found, data.pictures(files, (1, 8, 8, 3), 5, seed=2))
    assert found.max() <= 1.0


def test_a_picture_in_grey() -> None:
    found = data.pictures([png((100, 100, 100))], (1, 4, 4, 1), 1, 0)
    assert found.shape == (1, 1, 4, 4, 1)
    assert round(float(found[0, 0, 0, 0, 0]) * 255) == 100


def test_no_picture() -> None:
    pytest.importorskip("PIL.Image", reason="needs Pillow")
    with pytest.raises(data.DataError, match="a picture cannot be read"):
        data.pictures([b"no picture"], (1, 4, 4, 3), 1, 0)
