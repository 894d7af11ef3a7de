# SPDX-License-Identifier: MIT
# The front door.  CMake is the build of record: see CMakeLists.txt and
# CMakePresets.json.  Every target sets up what it needs by itself.

MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 600
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

RELEASE = build/release
REPORT = build/report.html
PAGE = build/attend.html
AUTOGRADER = build/attend-grade
BUILD = @JOBS=$(JOBS) scripts/build.sh release
CONFIGURE = -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
SETUP = scripts/setup.sh
SOURCES = $(shell find bench examples include lab python src tests tools web/wasm web/node -name '*.[ch]' \
    -o -name '*.cpp' -o -name '*.inc')
PYTHON_SOURCES = bench examples python scripts tests
# Not built on this machine.
UNTIDIED = tests/% python/% web/% src/cpu/isa/neon% src/cpu/isa/simd128% tools/bench/peak_bfmmla.c
SCRIPTS = .ci/run $(wildcard scripts/*.sh cmake/*.sh) bench/compare/rivals_python.sh bench/mpi_pack.sh bench/mpi_measure.sh \
    $(wildcard tests/*.sh tests/*/*.sh) tools/completion/attend.bash

help:
	@echo 'make run        build, run the laboratory, write $(REPORT)'
	@echo 'make test       build and run what a user can notice, in minutes; the last line is the count'
	@echo '                T=NAME: tests of that name alone; V=1: a line for each program'
	@echo 'make test-all   and sanitizers, fuzzers, MPI, AArch64, emulated GPU, Chromium, weights'
	@echo 'make test-long  and every grid walked whole, and planted faults, in about two hours'
	@echo 'make test-engine, -lab, -python, -page, -mpi, -cuda'
	@echo '                all tests of one group'
	@echo 'make bench      time attention beside the limits of this machine and other libraries'
	@echo 'make page       the laboratory as one page for a browser: $(PAGE)'
	@echo 'make autograder the static command that attend grade --autograder packs: $(AUTOGRADER)'
	@echo 'make wheel      the Python package, into build/wheels'
	@echo 'make install    into $$(DESTDIR)$$(PREFIX); PREFIX is $(PREFIX)'
	@echo 'make uninstall  take the same files away again'
	@echo 'make fuzz       run the fuzzers for FUZZ_SECONDS ($(FUZZ_SECONDS)) each'
	@echo 'make format     lay out C with clang-format, Python with black'
	@echo 'make lint       check layout, C, shell scripts and manual pages'
	@echo 'make clean      remove build/'

run: release
	$(RELEASE)/attend report -o $(REPORT)

RUN_TESTS = @JOBS=$(JOBS) tests/run.sh $(if $(V),-v)

test:
	$(RUN_TESTS) $(if $(filter undefined,$(origin T)),test,-n '$(subst ','\'',$(T))')

test-all test-long test-engine test-lab test-python test-page test-mpi test-cuda:
	$(RUN_TESTS) $(@:test-%=%)

fuzz:
	@JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run.sh fuzz

# BENCH_PYTHON names an interpreter with the other libraries.
bench:
	@scripts/setup.sh run
	@scripts/setup.sh bench
	@bench/compare/rivals_python.sh >/dev/null
	$(BUILD) 'attend_shared attend_tool monte_carlo' $(CONFIGURE)
	$(RELEASE)/attend bench
	@python=$$(bench/compare/rivals_python.sh) && \
	$$python -B bench/compare/compare.py && \
	$$python -B bench/monte_carlo.py $(RELEASE)/monte_carlo

# CUDA=1 installs nvcc from PyPI if there is none.
release:
	@$(SETUP) run
	$(if $(CUDA),@scripts/get_nvcc.sh)
	$(BUILD) 'attend_shared attend_static attend_theory_shared attend_theory_static attend_layer_shared attend_layer_static mpi_libraries attend_tool attend_manual' $(CONFIGURE)

# Two modules, with and without vector instructions, and the page that node builds from
# them.
page:
	@scripts/setup.sh page
	@JOBS=$(JOBS) scripts/build.sh wasm page_modules
	@NODE_PATH=/usr/share/nodejs node web/build.mjs $(PAGE)

# On musl, so that it runs on any Linux of this machine's kind.
autograder:
	@scripts/setup.sh autograder
	@JOBS=$(JOBS) scripts/build.sh autograder attend_grade
	@cp build/autograder/attend-grade $(AUTOGRADER)

wheel:
	@scripts/setup.sh wheel
	python3 -m pip wheel --no-deps --wheel-dir build/wheels .

# Packages that are missing are named, not installed.
install uninstall: SETUP = scripts/setup.sh -n

# Tests are built in the same tree and not installed.
install: release
	@DESTDIR='$(DESTDIR)' cmake --install $(RELEASE)

# Removes the files that installing now would create.
uninstall: release
	@staging=$$(mktemp -d) && trap 'rm -rf "$$staging"' EXIT && \
	DESTDIR="$$staging" cmake --install $(RELEASE) >/dev/null && \
	(cd "$$staging" && find . ! -type d) | while read -r file; do \
	    rm -f "$(DESTDIR)/$$file" && echo "removed $(DESTDIR)$${file#.}"; done && \
	(cd "$$staging" && find . -depth -type d \( -name attend -o -path '*/attend/*' \)) | while read -r dir; do \
	    rmdir "$(DESTDIR)/$$dir" 2>/dev/null || true; done

format:
	@scripts/setup.sh lint
	clang-format -i $(SOURCES)
	black -q $(PYTHON_SOURCES)

lint:
	@scripts/setup.sh lint
	@cmake --preset debug >/dev/null
	clang-format --dry-run -Werror $(SOURCES)
	black -q --check $(PYTHON_SOURCES)
	shellcheck -x -S warning $(SCRIPTS)
	mandoc -T lint -W warning $(wildcard docs/man/*.[13])
	@# Findings go to standard output; the other stream counts what was suppressed.
	clang-tidy -p build/debug --quiet $(filter-out $(UNTIDIED),$(filter %.c,$(SOURCES))) 2>/dev/null

clean:
	rm -rf build

.PHONY: help run test test-all test-long test-engine test-lab test-python test-page test-mpi test-cuda fuzz bench release page autograder wheel install uninstall format lint clean
