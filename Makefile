# Everything a person does here is one word: see `make help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Rust may be installed but not on the PATH of this shell.
export PATH := $(CURDIR)/.tools/bin:$(PATH):$(HOME)/.cargo/bin
# One build directory for the workspace, the benchmarks and the fuzz targets.
export CARGO_TARGET_DIR ?= $(CURDIR)/target

PREFIX ?= $(HOME)/.local
DESTDIR ?=
SECONDS ?= 30
CARGO_FLAGS ?=
ARGS ?=
FILE ?=

# Workspaces of their own, outside the one at the root.
OTHER_WORKSPACES := $(patsubst %/Cargo.toml,%,bench/Cargo.toml fuzz/Cargo.toml python/Cargo.toml xtask/Cargo.toml \
	crates/token/tests/interop/rust/Cargo.toml)

define newline


endef

# The gates, and what else reads and checks.
XTASK := cargo $(CARGO_FLAGS) xtask

# A target that has no standard library: what claims to need none is built for it.
WITHOUT_STD := x86_64-unknown-none

# A lint links nothing. So a peer of bench/ that is written in C need not be compiled for it: its
# library is said to be in a directory that has none.
WITHOUT_LINKING := SODIUM_LIB_DIR=$(CURDIR)

# All of a campaign, one test after the other: moments are measured, and the disk holds one large
# file at a time.
WHOLE := --include-ignored --test-threads=1

.PHONY: help demo js test test-services test-platforms test-constant-time campaign lint prove prove-service prove-levels bench fuzz wheels install clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

demo: ## protect a real file and try to break it (FILE=path, else one it makes)
	@scripts/setup build demo
	scripts/demo $(if $(FILE),"$(FILE)")

js: ## the visitor's side of tokens, for web pages: js/dist
	@scripts/setup build js
	scripts/build-js $(CARGO_FLAGS)

test: ## every test but those that need servers, emulators or much time
	@scripts/setup test
	scripts/fetch-vectors
	scripts/packages .tools/solvers crates/proofs/solvers.txt
	$(XTASK) test --check-vectors \
		--also "scripts/test-python" \
		--also "scripts/test-argon2 2000" \
		--also "scripts/test-interop $(CARGO_FLAGS)" \
		--also "scripts/test-one-thread $(CARGO_FLAGS)" \
		--also "cargo test $(CARGO_FLAGS) --manifest-path xtask/Cargo.toml" \
		--also "cd scripts/tests && python3 -Bm unittest test_jobs test_packages test_setup" \
		--also "scripts/record-session --check $(CARGO_TARGET_DIR)/debug/sealstone" \
		$(CARGO_FLAGS)

wheels: ## the Python package for others: wheel and source, checked, in target/dist
	@scripts/setup build wheels
	scripts/wheels

test-services: ## the token service with Redis and PostgreSQL; visitors, pages in Chromium
	@scripts/setup test services
	scripts/test-services $(CARGO_FLAGS)

test-platforms: ## the kernels' tests on aarch64, i686 and s390x, by an emulator where needed
	@scripts/setup platforms
	scripts/test-platforms $(CARGO_FLAGS)

test-constant-time: ## no branch and no address depends on a token's key or blind, by valgrind
	@scripts/setup test
	scripts/test-constant-time $(CARGO_FLAGS)

campaign: ## hours: kills, full disks, big files, valgrind, tutorial (ARGS=… names tests)
	@scripts/setup test
	scripts/packages .tools/solvers crates/proofs/solvers.txt
	@export SEALSTONE_CAMPAIGN_SEED=$${SEALSTONE_CAMPAIGN_SEED:-$$RANDOM$$RANDOM}; \
	echo "campaign: seed $$SEALSTONE_CAMPAIGN_SEED"; \
	cargo test --release $(CARGO_FLAGS) -p sealstone-cli --test campaign -- $(WHOLE) $(ARGS); \
	cargo test --release $(CARGO_FLAGS) -p sealstone-server --test faults -- $(WHOLE) $(ARGS); \
	cargo test $(CARGO_FLAGS) -p sealstone-capi --test c -- $(WHOLE) $(ARGS); \
	cargo test $(CARGO_FLAGS) -p sealstone-prover --test tutorial -- $(WHOLE) $(ARGS)

lint: ## format, lints, documentation, layers, sizes, dependencies
	@scripts/setup lint
	cargo fmt --all --check
	$(foreach w,$(OTHER_WORKSPACES),cargo fmt --manifest-path $(w)/Cargo.toml --check$(newline))
	$(XTASK) check
	scripts/header --check
	cargo clippy --workspace --all-targets $(CARGO_FLAGS) -- -D warnings
	cargo clippy -p sealstone-argon2 --no-default-features --target $(WITHOUT_STD) $(CARGO_FLAGS) -- -D warnings
	$(foreach w,$(OTHER_WORKSPACES),$(WITHOUT_LINKING) cargo clippy --manifest-path $(w)/Cargo.toml --all-targets $(CARGO_FLAGS) -- -D warnings$(newline))
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features sealstone-skein/digest $(CARGO_FLAGS)
	cargo test $(CARGO_FLAGS) --manifest-path xtask/Cargo.toml -- --ignored with_lint_tools
	cd scripts/tests && python3 -Bm unittest test_header

prove: ## prove the kernels' machine code, in the command and both libraries
	@scripts/setup prove
	cargo build --release $(CARGO_FLAGS) -p sealstone-cli -p sealstone-proofs --bin sealstone --bin sealstone-prove
	cargo rustc --release $(CARGO_FLAGS) -p sealstone-capi --lib --crate-type staticlib
	scripts/library $(CARGO_TARGET_DIR)/release/libsealstone_capi.a $(CARGO_TARGET_DIR)/library
	cargo build --release $(CARGO_FLAGS) --manifest-path python/Cargo.toml
	scripts/packages .tools/solvers crates/proofs/solvers.txt
	$(CARGO_TARGET_DIR)/release/sealstone-prove --lemmas --write-json $(CARGO_TARGET_DIR)/proofs.json \
		--library $(CARGO_TARGET_DIR)/library/lib/libsealstone.so \
		--library $(CARGO_TARGET_DIR)/release/libsealstone_python.so $(ARGS)
	$(XTASK) assurance --proofs $(CARGO_TARGET_DIR)/proofs.json --check
	$(if $(ARGS),,$(CARGO_TARGET_DIR)/release/sealstone selftest --proofs=$(CARGO_TARGET_DIR)/proofs.json)

prove-service: ## make prove for the token service's program
	@scripts/setup prove
	cargo build --release $(CARGO_FLAGS) -p sealstone-cli -p sealstone-server -p sealstone-proofs \
		--bin sealstone --bin sealstone-server --bin sealstone-prove
	$(CARGO_TARGET_DIR)/release/sealstone-prove \
		--library $(CARGO_TARGET_DIR)/release/sealstone-server $(ARGS)

prove-levels: ## make prove at four levels of optimisation, for three targets
	@scripts/setup prove
	cargo build --release $(CARGO_FLAGS) -p sealstone-cli -p sealstone-proofs
	$(XTASK) levels $(CARGO_FLAGS)

bench: ## measure against the peers, alternating (ARGS=… goes to bench/files.py)
	@scripts/setup bench
	cargo build --release $(CARGO_FLAGS) -p sealstone-cli -p sealstone-server
	cargo build --release $(CARGO_FLAGS) --manifest-path bench/Cargo.toml
	cargo build --release $(CARGO_FLAGS) --manifest-path crates/token/tests/interop/rust/Cargo.toml
	@status=0; release=$(CARGO_TARGET_DIR)/release; \
	bench/unlock.py --sealstone $$release/sealstone || status=1; \
	bench/files.py --sealstone $$release/sealstone $(ARGS) || status=1; \
	bench/argon2.py --bench $$release/bench-argon2 || status=1; \
	bench/python.py || status=1; \
	bench/skein.py --bench $$release/bench-skein --sealstone $$release/sealstone || status=1; \
	$$release/bench-tree-shapes || status=1; \
	$$release/bench-package || status=1; \
	bench/tree.py --sealstone $$release/sealstone || status=1; \
	$$release/bench-token || status=1; \
	$$release/bench-monitor || status=1; \
	taskset -c 1 $$release/bench-service --server $$release/sealstone-server || status=1; \
	taskset -c 1 $$release/bench-service --server $$release/sealstone-server --redis || status=1; \
	taskset -c 1 bench/issuers.mjs --server $$release/sealstone-server --peer $$release/sealstone-token-peer || status=1; \
	exit $$status

fuzz: ## every fuzz target for SECONDS=30 each
	@scripts/setup fuzz
	scripts/fuzz $(SECONDS)

install: ## command, manual pages, completions, libraries, headers (PREFIX=~/.local)
	@scripts/setup build
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install

clean: ## what was built (the tools in .tools/ stay)
	cargo clean
