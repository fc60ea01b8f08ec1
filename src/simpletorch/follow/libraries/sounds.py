"""Sounds in files, as ``torchaudio``, ``soundfile``, ``scipy.io.wavfile`` and ``librosa`` give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from simpletorch.follow import files
from simpletorch.follow.disk import entries
from simpletorch.follow.libraries import by_name, native
from simpletorch.follow.libraries.arrays import array
from simpletorch.follow.values import Tensor, Value, is_int
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64, DType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]


def _parts(run: Interpreter, path: Value) -> tuple[Value, Value, Value]:
    """Frames, channels and rate; None for each that isn't known."""
    frames, channels, rate = files.loaded(run, entries.SOUND, run.resolve(path), 3)
    return frames, channels, rate


def _rate(run: Interpreter, rate: Value) -> Value:
    return rate if is_int(rate) else run.unknown("the rate of a sound", "int", "data")


def _mono_or_not(run: Interpreter, frames: Value, channels: Value, dtype: DType | None) -> Value:
    """``(frames,)`` of one channel, else ``(frames, channels)``."""
    if not is_int(frames) or not is_int(channels):
        return run.unknown("a sound of unknown length", None, "data")
    return array(Shape((frames,) if channels == 1 else (frames, channels)), dtype)


@native("torchaudio.load")
def _load(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(channels, frames)``."""
    given = by_name("uri frame_offset num_frames normalize channels_first", args, kwargs)
    frames, channels, rate = _parts(run, given.pop("uri", given.pop("filepath", None)))
    if given or not is_int(frames) or not is_int(channels):
        frames = channels = UNKNOWN
    plain = given.keys() <= {"frame_offset", "num_frames"}
    made = Tensor(TensorType(Shape((channels, frames)), FLOAT32)) if plain else run.unknown("a sound", None, "data")
    return made, _rate(run, rate)


@native("soundfile.read")
def _read(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    frames, channels, rate = _parts(run, by_name("file", args, kwargs).get("file"))
    whole = len(args) + len(kwargs) == 1
    return _mono_or_not(run, frames if whole else None, channels, FLOAT64), _rate(run, rate)


@native("scipy.io.wavfile.read")
def _read_wav(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    frames, channels, rate = _parts(run, by_name("filename", args, kwargs).get("filename"))
    return _rate(run, rate), _mono_or_not(run, frames, channels, None)


@native("librosa.load")
def _load_mono(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """At its own rate it is ``(frames,)``; at another one it is resampled."""
    given = by_name("path", args, kwargs)
    frames, _, rate = _parts(run, given.pop("path", None))
    own = given.keys() == {"sr"} and run.resolve(given["sr"]) is None
    length = frames if own and is_int(frames) else run.some_size()
    return array(Shape((length,)), FLOAT32), _rate(run, rate if own else run.resolve(given.get("sr", 22_050)))
