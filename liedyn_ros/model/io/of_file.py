# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Steps that all readers of robot descriptions share."""

from collections.abc import Callable
from dataclasses import replace
import warnings

import numpy as np

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning, LiedynError
from liedyn_ros.model.io.plausibility import implausible
from liedyn_ros.model.model import Model


def model_of_file(name: str, read: Callable[[], Model]) -> Model:
    """
    Return the model that a reader reads; its errors and warnings name the file.

    Numbers that overflow are for the reader to refuse; those that are hardly in kg and m have a
    warning. The warnings are those of the caller's
    caller. Raises DescriptionError.
    """
    try:
        with np.errstate(over='ignore', invalid='ignore'):
            model = read()
    except DescriptionError:
        raise
    except LiedynError as error:
        raise DescriptionError(f'{name}: {error}') from error
    model = replace(model, warnings=(*model.warnings, *implausible(model)))
    for warning in model.warnings:
        warnings.warn(f'{name}: {warning}', DescriptionWarning, stacklevel=3)
    return model
