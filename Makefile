# Thin: CMake builds, tests/run_all.py tests. `make demo` is the place to start.

JOBS ?= 2
PYTHON := /usr/bin/python3
# looked up when it is used: make deps may install it, and a launcher that comes later would compile everything again
LAUNCHER = $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
BUILT := JUPYTER_PATH=$(CURDIR)/build/share/jupyter

.PHONY: deps build demo lab test bench validate fuzz mutate planner-oracle conformance install clean

deps:            ## install the Debian packages that are missing
	@.ci/deps

build: deps      ## configure and compile into build/
	@cmake --preset dev $(LAUNCHER) --log-level=WARNING
	@cmake --build build -j$(JOBS)

demo: build      ## register the kernel, run the first notebook and print what its cells show
	@build/bin/xpto install --user
	@$(PYTHON) tests/notebooks/show.py notebooks/01_first_kernel.ipynb

lab: build       ## JupyterLab 4 over notebooks/; the classic notebook where it cannot be installed
	@if .ci/lab; then $(BUILT) .venv-lab/bin/jupyter-lab $(AS_ROOT) --notebook-dir=notebooks; \
	else echo "lab: starting the classic notebook instead"; $(BUILT) jupyter notebook $(AS_ROOT) --notebook-dir=notebooks; fi

test: build      ## everything: C++ tests, Python, command line, protocol, notebooks, browser
	@.ci/lab || echo "lab: its browser tests are skipped"
	@$(PYTHON) tests/run_all.py

bench: build     ## ratios and instruction counts
	@PYTHONPATH=$(CURDIR)/build/python $(PYTHON) tests/bench/run.py --instructions

validate: deps   ## predicted against measured times; MEASUREMENTS=file FORMAT=json TABLE=T11
	@cmake --preset dev $(LAUNCHER) --log-level=WARNING >&2
	@cmake --build build -j$(JOBS) --target xpto_validate >&2
	@build/tools/validate/xpto_validate $(or $(MEASUREMENTS),tests/data/measurements.json) $(if $(filter json,$(FORMAT)),--json) $(if $(TABLE),--table $(TABLE))

N ?= 300
SEED ?= 0
fuzz: build      ## N generated pipelines from SEED on, every law checked
	@PYTHONPATH=$(CURDIR)/build/python $(PYTHON) tests/fuzz/run.py --count $(N) --seed $(SEED)

mutate:          ## mutants of a good pipeline against every interleaving: the table, with the survivors explained
	@cmake --preset dev $(LAUNCHER) --log-level=WARNING >&2
	@cmake --build build -j$(JOBS) --target test_mutation >&2
	@XPTO_MUTATION_TABLE=1 build/tests/mutation/test_mutation

COUNT ?= 1000
planner-oracle: build  ## our plans against those of an external checkout's own planner: UPSTREAM=dir [COUNT=1000] [SEED=0]
	@PYTHONPATH=$(CURDIR)/build/python $(PYTHON) tests/oracle/run.py "$(UPSTREAM)" --count $(COUNT) --seed $(SEED)

conformance: build  ## the system tests of an external checkout, unmodified: UPSTREAM=dir [FILES=pattern] [TORCH_ENV=venv with a newer torch]
	@PYTHONPATH=$(CURDIR)/build/python $(if $(TORCH_ENV),$(TORCH_ENV)/bin/python,$(PYTHON)) tests/conformance/run.py "$(UPSTREAM)" --files "$(FILES)"

install: build   ## into PREFIX (default /usr/local), kernelspec included
	@cmake --install build $(if $(PREFIX),--prefix $(PREFIX))

clean:           ## forget what was built
	@rm -rf build
