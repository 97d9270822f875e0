# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Cut-off frequencies of recorded coordinates, from their own spectra."""

from __future__ import annotations

from functools import lru_cache
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array

FILTER_ORDER = 4  # of the Butterworth filter, run forwards and backwards
MAX_CUTOFF = 0.4  # of the rate; a cut-off above it is none
READING_ROUNDING = 1e-10  # of the samples; noise below it is no encoder's
_WINDOW = ('general_cosine', [0.375, 0.5, 0.125])  # its side lobes fall by 30 dB an octave
_AVERAGED_BINS = 25  # bins of the spectrum that are averaged
_MOTION_RATIO = 4.0  # times the noise, above which a bin is motion
_BAND_POWER = 0.999  # of the power of the velocity, in the band of the motion
_KEPT_POWER = 0.9  # of that power, which no filter may cut
# Times the spectrum an octave above: no motion falls so slowly for two octaves
_OCTAVE_FALL = 2.0
_NOISE_RATIO = 1e-4  # of the peak: noise is below it, and what is above is motion at any frequency


class Spectrum(NamedTuple):
    """
    Spectrum of a coordinate: noise and bands.

    noise is the standard deviation of white noise in a sample. cutoff (Hz) is the best one for the
    second derivative. band (Hz) holds nearly all power of the velocity, core (Hz) most of it. end
    (Hz) is where the spectrum meets its noise, 0 without motion.
    """

    noise: float
    cutoff: float
    band: float
    core: float
    end: float


def spectrum_of(samples: Array, rate: float) -> Spectrum:
    """
    Return noise and bands of samples (n,) at a rate (Hz), from their spectrum (16.4).

    What is left of a joint that stands still, or moves evenly, is rounding and no motion.
    """
    moving, rounding = (
        _without_trend(samples), READING_ROUNDING * float(np.abs(samples).max(initial=0.0)))
    if np.abs(moving).max(initial=0.0) <= rounding:
        return Spectrum(rounding, MAX_CUTOFF * rate, 0.0, 0.0, 0.0)
    frequency, density = _density(moving, rate)
    # A running sum, as of scipy.ndimage, would leave the rounding of the peak everywhere.
    mean = np.convolve(np.pad(density, _AVERAGED_BINS // 2, mode='edge'), np.full(
        _AVERAGED_BINS, 1.0 / _AVERAGED_BINS), mode='valid')
    floor = _floor(density, mean)
    moves, meets = _moving(mean, floor)
    motion = np.where(moves, density, 0.0)
    noise = np.sqrt(0.5 * floor * rate)
    power = np.cumsum(frequency**2 * motion)
    band, core, end = 0.0, 0.0, 0.0
    if power[-1] > 0.0:
        band, core = (float(frequency[np.searchsorted(power, share * power[-1])])
                      for share in (_BAND_POWER, _KEPT_POWER))
        end = float(frequency[meets])
    if noise <= rounding:
        return Spectrum(float(noise), MAX_CUTOFF * rate, band, core, end)
    choices = np.geomspace(max(band, 4.0 * frequency[0]), MAX_CUTOFF * rate, 60)
    power = (motion * (2.0 * np.pi * frequency)**4)[moves]
    stopped = (frequency[moves] / choices[:, None])**2
    for _ in range(int(math.log2(FILTER_ORDER))):
        stopped *= stopped
    stopped /= 1.0 + stopped  # 1 - F of (16.2)
    lost = (stopped**2 @ power) * frequency[0]
    best = np.argmin(lost + derivative_noise(noise, choices, rate, 2)**2)
    return Spectrum(float(noise), float(choices[best]), band, core, end)


def _without_trend(samples: Array) -> Array:
    """Return samples (n,) without the straight line that is nearest to them."""
    at = np.arange(len(samples)) - 0.5 * (len(samples) - 1)
    moving = samples - samples.mean()
    return np.asarray(moving - (at @ moving) / max(float(at @ at), 1.0) * at)


def _density(moving: Array, rate: float) -> tuple[Array, Array]:
    """Return frequencies (Hz) above 0, and the density of the power at them, one-sided."""
    count = len(moving)
    window = np.asarray(_window(count))
    spectrum = np.fft.rfft(moving * window)[1:]
    density = 2.0 * np.abs(spectrum)**2 / (rate * float(window @ window))
    if count % 2 == 0:
        density[-1] *= 0.5
    return np.arange(1, len(density) + 1) * rate / count, density


@lru_cache(maxsize=4)
def _window(count: int) -> Array:
    from scipy.signal import get_window  # which takes as long to import as all of identification
    return np.asarray(get_window(_WINDOW, count))


def _floor(density: Array, mean: Array) -> float:
    """
    Return the density of the noise: the first two octaves over which a spectrum is flat.

    It is far below the peak. A driver's own filter leaves less at the end of the spectrum, so
    that the last third counts only where no octaves are flat.
    """
    at, peak = _AVERAGED_BINS, mean.max(initial=0.0)
    while 4 * at <= len(mean):
        low, above = (float(np.median(mean[k * at:2 * k * at])) for k in (1, 2))
        if low < min(_NOISE_RATIO * peak, _OCTAVE_FALL * above):
            return low
        at = math.ceil(math.sqrt(2.0) * at)
    return float(np.median(density[2 * len(density) // 3:]) / np.log(2.0))


def _moving(mean: Array, floor: float) -> tuple[NDArray[np.bool_], int]:
    """Return whether bins are motion, and the bin where the spectrum meets its noise."""
    moves: NDArray[np.bool_] = np.asarray(mean > _MOTION_RATIO * floor)
    peak = int(mean.argmax())
    later = np.flatnonzero(~moves[peak:])
    if not len(later):
        return moves, len(mean) - 1
    meets = peak + int(later[0])
    moves[meets:] &= mean[meets:] > _NOISE_RATIO * mean[peak]  # lines that are no vibration
    return moves, meets


def derivative_noise(noise: Array | float, cutoff: Array | float, rate: float, order: int
                     ) -> Array:
    """Return the standard deviation of a filtered derivative of an order, 0, 1, ... (16.3)."""
    cutoff = np.asarray(cutoff)
    return noise * (2.0 * np.pi * cutoff)**order * np.sqrt(
        np.minimum(1.0, 2.0 * cutoff / ((2 * order + 1) * rate)))


def smoothed(samples: Array, cutoff: float, rate: float) -> Array:
    """Return samples (n, ...) after the zero-phase filter (16.2), unchanged without a cut-off."""
    if cutoff >= MAX_CUTOFF * rate:
        return samples
    from scipy.signal import sosfiltfilt
    return np.asarray(sosfiltfilt(_sections(2.0 * cutoff / rate), samples, axis=0))


@lru_cache(maxsize=64)
def _sections(cutoff: float) -> Array:
    from scipy.signal import butter
    return np.asarray(butter(FILTER_ORDER, cutoff, output='sos'))


def response(cutoff: float, rate: float, half: int) -> Array:
    """
    Return the zero-phase filter's answer to an impulse in the middle of a window (16.2).

    (2 half + 1,). It is the sum over the poles of 1/(1 + (f/fc)^8) in the upper half plane, faded
    out to the ends, and its sum is 1.
    """
    poles = 2.0 * np.pi * cutoff * np.exp(1j * np.pi * (np.arange(FILTER_ORDER) + 0.5) /
                                          FILTER_ORDER)
    time = np.abs(np.arange(-half, half + 1)) / rate
    ringing = np.imag(poles[:, None] * np.exp(1j * poles[:, None] * time)).sum(axis=0)
    faded = ringing * np.cos(0.5 * np.pi * np.arange(-half, half + 1) / (half + 1.0))**2
    return np.asarray(faded / faded.sum())


def decimated(samples: Array, weights: Array, places: NDArray[np.int64]) -> Array:
    """
    Return the sums (K, ...) of samples (n, ...) with weights (2 half + 1,) about K places.

    These are evenly spaced, and at least half from the ends. Sums of several places are one
    product of matrices.
    """
    half, length = len(weights) // 2, len(weights)
    step = int(places[1] - places[0]) if len(places) > 1 else 1
    flat = samples.reshape(len(samples), -1)
    together = max(1, length // step)
    block = np.zeros((together, (together - 1) * step + length))
    for k in range(together):
        block[k, k * step:k * step + length] = weights
    result = np.empty((len(places), flat.shape[1]))
    for begin in range(0, len(places), together):
        count = min(together, len(places) - begin)
        first, wide = int(places[begin]) - half, (count - 1) * step + length
        result[begin:begin + count] = block[:count, :wide] @ flat[first:first + wide]
    return result.reshape(len(places), *samples.shape[1:])
