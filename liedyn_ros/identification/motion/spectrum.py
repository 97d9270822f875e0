# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Cut-off frequencies of recorded coordinates, from their own spectra."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, detrend, periodogram, sosfiltfilt

from liedyn_ros.common.checks import Array

ORDER = 4  # of the Butterworth filter, run forwards and backwards
NYQUIST = 0.4  # of the rate; a cut-off above it is none
ROUNDING = 1e-10  # of the samples; noise below it is no encoder's
_WINDOW = ('general_cosine', [0.375, 0.5, 0.125])  # its side lobes fall by 30 dB an octave
_SMOOTH = 25  # bins of the spectrum that are averaged
_FLOOR = 4.0  # times the noise, above which a bin is motion
_POWER = 0.999  # of the power of the velocity, in the band of the motion
_CORE = 0.9  # of that power, which no filter may cut
_FLAT = 2.0  # times the spectrum an octave above: no motion falls so slowly for two octaves
_FAR = 1e-4  # of the peak: noise is below it, and what is above is motion at any frequency


class Spectrum(NamedTuple):
    """
    What the spectrum of a coordinate tells.

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
    Return what the spectrum of samples (n,) at a rate (Hz) tells (16.4).

    What is left of a joint that stands still, or moves evenly, is rounding and no motion.
    """
    moving, rounding = detrend(samples), ROUNDING * float(np.abs(samples).max(initial=0.0))
    if np.abs(moving).max(initial=0.0) <= rounding:
        return Spectrum(rounding, NYQUIST * rate, 0.0, 0.0, 0.0)
    frequency, density = periodogram(moving, rate, window=_WINDOW, detrend=False)
    frequency, density = frequency[1:], density[1:]
    # A running sum, as of scipy.ndimage, would leave the rounding of the peak everywhere.
    mean = np.convolve(np.pad(density, _SMOOTH // 2, mode='edge'), np.full(
        _SMOOTH, 1.0 / _SMOOTH), mode='valid')
    floor = _floor(density, mean)
    moves, meets = _moving(mean, floor)
    motion = np.where(moves, density, 0.0)
    noise = np.sqrt(0.5 * floor * rate)
    power = np.cumsum(frequency**2 * motion)
    band, core, end = 0.0, 0.0, 0.0
    if power[-1] > 0.0:
        band, core = (float(frequency[np.searchsorted(power, share * power[-1])])
                      for share in (_POWER, _CORE))
        end = float(frequency[meets])
    if noise <= rounding:
        return Spectrum(float(noise), NYQUIST * rate, band, core, end)
    choices = np.geomspace(max(band, 4.0 * frequency[0]), NYQUIST * rate, 60)
    passed = 1.0 / (1.0 + (frequency / choices[:, None])**(2 * ORDER))  # (16.2)
    lost = (((1.0 - passed)**2 * (2.0 * np.pi * frequency)**4) @ motion) * frequency[0]
    best = np.argmin(lost + derivative_noise(noise, choices, rate, 2)**2)
    return Spectrum(float(noise), float(choices[best]), band, core, end)


def _floor(density: Array, mean: Array) -> float:
    """
    Return the density of the noise: the first two octaves over which a spectrum is flat.

    It is far below the peak. A driver's own filter leaves less at the end of the spectrum, so
    that the last third counts only where no octaves are flat.
    """
    at, peak = _SMOOTH, mean.max(initial=0.0)
    while 4 * at <= len(mean):
        low, high = (float(np.median(mean[i:2 * i])) for i in (at, 2 * at))
        if low < _FLAT * high and low < _FAR * peak:
            return low
        at = math.ceil(math.sqrt(2.0) * at)
    return float(np.median(density[2 * len(density) // 3:]) / np.log(2.0))


def _moving(mean: Array, floor: float) -> tuple[NDArray[np.bool_], int]:
    """Return which bins are motion, and where the spectrum meets its noise after the peak."""
    moves: NDArray[np.bool_] = np.asarray(mean > _FLOOR * floor)
    peak = int(mean.argmax())
    later = np.flatnonzero(~moves[peak:])
    if not len(later):
        return moves, len(mean) - 1
    meets = peak + int(later[0])
    moves[meets:] &= mean[meets:] > _FAR * mean[peak]  # lines that are no vibration
    return moves, meets


def derivative_noise(noise: Array | float, cutoff: Array | float, rate: float, order: int
                     ) -> Array:
    """Return the standard deviation of a filtered derivative of an order, 0, 1, ... (16.3)."""
    cutoff = np.asarray(cutoff)
    return noise * (2.0 * np.pi * cutoff)**order * np.sqrt(
        np.minimum(1.0, 2.0 * cutoff / ((2 * order + 1) * rate)))


def smoothed(samples: Array, cutoff: float, rate: float) -> Array:
    """Return samples (n, ...) after the zero-phase filter (16.2), unchanged without a cut-off."""
    if cutoff >= NYQUIST * rate:
        return samples
    sections = butter(ORDER, cutoff, fs=rate, output='sos')
    return np.asarray(sosfiltfilt(sections, samples, axis=0))
