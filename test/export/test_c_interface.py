# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The interface of the C library: a function is declared and checked by its annotations."""

from types import ModuleType

from support.c_library.c_library import require_tools, run

from liedyn_ros.build.c_interface import (
    CALLS, declaration, definition, FUNCTION_MODULES, functions, interface, method)
from liedyn_ros.export.kernels.interface import (
    CODE, CONFIGURATION, MODEL, ORDER_NUMBER, ORDERS, RATES_OR_ZERO, RESULT, SQUARE, WORK)


def own(model: MODEL, work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES_OR_ZERO,
        a: ORDERS, mass: RESULT[SQUARE]) -> CODE:
    """Write nothing: an example."""
    raise NotImplementedError


def example():
    """Return the function above, as of a module of its own."""
    module = ModuleType(__name__)
    module.own = own
    return functions(module)[0]


def test_a_function_is_declared_checked_and_has_a_method():
    assert declaration(example()) == (
        '/** Write nothing: an example. */\n'
        'int liedyn_own(const liedyn_model *model, void *work, int order, const double *q, '
        'const double *v,\n               const double *a, double *mass);')
    text = ' '.join(definition(example()).split())
    assert 'begin(model, work, order, q && a && mass)' in text  # v may be NULL
    assert '!share(mass, nv * nv, a, (order + 1) * nv)' in text
    assert 'kernels()->own(words(model), area(work), order, in(q), in(v), ' in text
    assert '{"q", q, nq, NULL, 0}' in text
    text = method(example())
    assert 'void own(const VectorIn &q, const VectorIn &v, const MatrixIn &a, ' in text
    assert 'fits("a", a.cols(), nv_);' in text and 'mass.resize(nv_, nv_);' in text


def test_all_that_is_declared_is_written_once_and_exported():
    texts = dict(interface())
    header, code, exported = (texts[name] for name in (
        'include/liedyn.h', CALLS, 'exported.map'))
    for each in (each for module in FUNCTION_MODULES.values() for each in functions(module)):
        assert header.count(f'int liedyn_{each.name}(') == 1
        assert code.count(f'int liedyn_{each.name}(') == 1
        assert f'    liedyn_{each.name};\n' in exported


def test_arrays_of_a_size_that_the_caller_gives_have_their_shape_in_the_header():
    given = [(each.text, name, of.shape) for module in FUNCTION_MODULES.values()
             for each in functions(module) for name, of in each.arguments.items()
             if 'size' in of.shape]
    assert len(given) == 2
    for text, name, shape in given:
        assert f'{name} is ({", ".join(shape)})' in ' '.join(text.split())


def test_the_header_is_strict_c(tmp_path):
    require_tools('gcc')
    (tmp_path / 'liedyn.h').write_text(dict(interface())['include/liedyn.h'])
    (tmp_path / 'all.c').write_text('#include "liedyn.h"\n')
    run('gcc', '-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-c', tmp_path / 'all.c',
        '-o', tmp_path / 'all.o')
