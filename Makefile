GO ?= go

# Variables to set on the command line: make fuzz FUZZTIME=1m, make bench BENCHTIME=1x,
# make build ARCH=arm64.
FUZZTIME  ?= 10s
BENCHTIME ?= 1s
# make bench BENCHFLAGS=-quick fails if our function is over the limit in docs/performance.md.
BENCHFLAGS ?= -rounds 8
# make compare COMPAREFLAGS="-rounds 1 -shape '10 × 1 KB'" is a short one.
COMPAREFLAGS ?= -rounds 5
ARCH      ?= $(shell $(GO) env GOARCH)

GOLANGCI_VERSION := v2.15.0
CFN_LINT_VERSION := 1.58.0
GORELEASER_VERSION := v2.15.1
CYCLONEDX_VERSION := v1.10.0
KO_VERSION := v0.19.1
GOVULNCHECK_VERSION := v1.6.0

OUT      := .build
GOLANGCI := $(OUT)/tools/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
GORELEASER := $(OUT)/tools/goreleaser-$(GORELEASER_VERSION)/goreleaser
GOVULNCHECK := $(OUT)/tools/govulncheck-$(GOVULNCHECK_VERSION)/govulncheck
CYCLONEDX  := $(OUT)/tools/cyclonedx-gomod
KO         := $(OUT)/tools/ko-$(KO_VERSION)/ko
CFN_LINT := .venv-lint/bin/cfn-lint-$(CFN_LINT_VERSION)

# The version of Powertools that internal/powertools tests with.
POWERTOOLS := .venv-powertools/installed
PYTHON_PINS := internal/powertools/testdata/requirements.txt

# The AWS CLI with which internal/runbook runs the commands of docs/RUNBOOK.md.
AWS_CLI      := $(OUT)/awscli/installed
AWS_CLI_PINS := internal/runbook/testdata/requirements.txt

# The SAM CLI that internal/samtest tests with, and SAM's name for ARCH.
SAM      := $(OUT)/sam/installed
SAM_PINS := internal/samtest/testdata/requirements.txt
SAM_ARCH  = $(patsubst amd64,x86_64,$(ARCH))

# How every released binary is built. Functions are built without the RPC mode
# of the retired go1.x runtime.
RELEASE   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w"
FUNCTIONS := $(patsubst functions/%/main.go,%,$(wildcard functions/*/main.go))

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: ## Run the sample functions with the sample jobs on this machine
	$(GO) run ./cmd/demo

# internal/parity compares hosts in real time, so nothing else runs beside it.
IN_TIME := ./internal/parity
others   = $$($(GO) list ./... | grep -v '/internal/parity$$')

# Compilers and tests live for seconds: with more memory, they collect less garbage.
test race vet systems cover-gate: export GOGC ?= 400

.PHONY: test
test: ## Run all tests
	$(GO) test -shuffle=on $(others)
	$(GO) test -shuffle=on $(IN_TIME)

.PHONY: powertools-venv
powertools-venv: $(POWERTOOLS) ## Install Powertools for Python, for a test of a shared table

.PHONY: runbook-venv
runbook-venv: $(AWS_CLI) ## Install the AWS CLI, for the test that runs docs/RUNBOOK.md

# npm and Maven are needed. What they install goes into .build/clients.
CLIENTS := $(OUT)/clients

.PHONY: clients
clients: powertools-venv runbook-venv ## Run the programs of docs/emulators.md: boto3, AWS CLI, JavaScript, Java
	mkdir -p $(CLIENTS)/js $(CLIENTS)/java/src/main/java
	cp internal/clients/testdata/js/* $(CLIENTS)/js
	cp internal/clients/testdata/java/pom.xml $(CLIENTS)/java
	cp internal/clients/testdata/java/Example.java $(CLIENTS)/java/src/main/java
	npm install --prefix $(CLIENTS)/js --silent --no-audit --no-fund
	mvn -q -B -f $(CLIENTS)/java compile dependency:build-classpath -Dmdep.outputFile=classpath
	SQSAFE_CLIENTS=all $(GO) test -count=1 -v -run Programs ./internal/clients

# To test other servers: make conformance SQS_ENDPOINT=http://127.0.0.1:9324,
# DDB_ENDPOINT=... or CW_ENDPOINT=...
.PHONY: conformance
conformance: ## Check that the emulators, or other servers, answer as AWS does
	$(GO) test -count=1 -parallel 8 ./internal/conformance

# To repeat one history: make model HISTORIES=1 SEED=its seed.
HISTORIES ?= 100000
SEED      ?=

.PHONY: model
model: ## Check 100,000 random histories of the ledger with both stores (about 7 minutes)
	SQSAFE_HISTORIES=$(HISTORIES) SQSAFE_SEED=$(SEED) \
		$(GO) test -count=1 -timeout 1h -run HoldsInAllHistories ./idem/...

# To repeat one history: make sim HISTORIES=1 SEED=its seed. WITHOUT names features and jobs
# to leave out. Histories that break a promise are kept in .build/sim as they happened.
WITHOUT ?=

.PHONY: sim
sim: ## Play 100,000 random histories of the whole system, or HISTORIES of them
	GOGC=800 SQSAFE_HISTORIES=$(HISTORIES) SQSAFE_SEED=$(SEED) SQSAFE_WITHOUT="$(WITHOUT)" SQSAFE_KEEP=$(abspath $(OUT)/sim) \
		$(GO) test -count=1 -timeout 2h -v -run PromisesHoldInAllHistories ./internal/simulation/system

.PHONY: crashproof
crashproof: ## Crash real processes in all ways and settings (about a minute; make test has a short form)
	SQSAFE_CRASHPROOF=full $(GO) test -count=1 -shuffle=on ./internal/crashproof

# To repeat an attack: make chaos SEED=its seed KILLS=300. CHAOS_FLAGS=-keep keeps its logs.
KILLS       ?= 300
CHAOS_FLAGS ?=

.PHONY: chaos
chaos: ## Kill, freeze and stop real processes 300 times in ten minutes, or KILLS times
	$(GO) run ./internal/chaos -kills "$(KILLS)" -seed "$(SEED)" $(CHAOS_FLAGS)

# To try one fault: make mutants MUTANT=its name; three that a seed chooses: make mutants
# SOME=3 SEED=7. Without a seed the day chooses.
.PHONY: mutants
mutants: ## Put each deliberate fault into a copy of the code; the tests must catch it
	$(GO) run ./internal/mutants $(if $(MUTANT),-name $(MUTANT)) $(if $(SOME),-some $(SOME)) $(if $(SEED),-seed $(SEED))

# These packages only read the source or compute, in one goroutine: the race detector finds nothing in them.
NO_RACE := internal/(alarm|apiguard|archtest|cfn|coverage|licences|metricmath|mutants|release|release/images|stackedit|systems)$$

# Random histories are for make test and make sim; some of them are enough here.
race: export SQSAFE_HISTORIES ?= 100

.PHONY: race
race: ## Run all tests with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -shuffle=on $$($(GO) list ./... | grep -v -E -e '/$(NO_RACE)' -e '/internal/parity$$')
	CGO_ENABLED=1 $(GO) test -race -shuffle=on $(IN_TIME)

# Pictures need Chromium.
.PHONY: page-pictures
page-pictures: ## Write the pictures of docs/dlq-page.md
	SQSAFE_PICTURES=$(abspath docs/dlq-page) $(GO) test -count=1 -run TestPictures ./internal/dlqui

.PHONY: run-picture
run-picture: ## Write the picture of make run in the README
	SQSAFE_PICTURE=$(abspath docs/make-run.png) $(GO) test -count=1 -run TestPicture ./internal/demo

.PHONY: lint
lint: format-check vet golangci-lint template-lint ## Check format, code and template

.PHONY: format-check
format-check:
	@files=$$(find . -path './.*' -prune -o -name '*.go' -exec gofmt -l {} +); [ -z "$$files" ] || { echo "not formatted, run gofmt -w on:"; echo "$$files"; exit 1; }

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: golangci-lint
golangci-lint: $(GOLANGCI)
	$(GOLANGCI) run ./...

# If the template linter cannot be installed, the check is skipped; CI fails instead.
.PHONY: template-lint
template-lint: ## Check the templates (needs Python 3)
	@if [ -x $(CFN_LINT) ] || python3 -c 'import ensurepip, venv' 2>/dev/null; then \
		$(MAKE) --no-print-directory $(CFN_LINT) && echo "cfn-lint" && $(CFN_LINT) template.yaml functions/charge-worker/deploy/ecs.yaml; \
	elif [ -n "$$CI" ]; then \
		echo "templates cannot be checked: python3 with its venv module is missing"; exit 1; \
	else \
		echo "templates not checked: cfn-lint needs python3 with its venv module (Debian: python3-venv)"; \
	fi

# What a function does not need: the runtime's older protocol, and HTTP/2, which SQS and
# DynamoDB do not speak.
FUNCTION_TAGS := lambda.norpc,nethttpomithttp2

.PHONY: build
build: $(OUT)/sqsafe $(FUNCTIONS:%=$(OUT)/functions/%/bootstrap) ## Build the command and the functions into .build

# Always run the go command: it knows whether a binary is up to date.
.PHONY: FORCE
FORCE:

$(OUT)/sqsafe: FORCE
	$(RELEASE) -o $@ ./cmd/sqsafe

$(OUT)/functions/%/bootstrap: FORCE
	GOOS=linux GOARCH=$(ARCH) $(RELEASE) -tags $(FUNCTION_TAGS) -o $@ ./functions/$*

# The systems for which sqsafe is released. CI builds for those that it does not run on.
SYSTEMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: systems
systems: ## Compile the command for SYSTEMS: all that it is released for
	@for system in $(SYSTEMS); do \
		echo "$$system"; \
		GOOS=$${system%/*} GOARCH=$${system#*/} CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/sqsafe || exit 1; \
	done

# The tests that compile on Linux only are found here too.
.PHONY: types
types: ## Check the types of all packages and tests for Windows and macOS
	$(GO) run ./internal/systems windows/amd64 darwin/arm64

# Before a release: make fixtures VERSION=v1.2.3. Later versions are tested with what this one writes.
VERSION ?=
.PHONY: fixtures
fixtures: ## Write what VERSION stores, for the tests of later versions
	$(GO) test -count=1 -run TestWrite ./internal/compatibility -args -write "$(VERSION)"

.PHONY: licence-texts
licence-texts:
	@mkdir -p $(OUT)
	$(GO) run ./internal/licences -texts > $(OUT)/licences.txt

.PHONY: images
images: $(KO) licence-texts ## Build the container images of a release into .build/images
	$(GO) run ./internal/release/images -ko $(KO) -out $(OUT)/images $(IMAGES_FLAGS)

.PHONY: release-dry
release-dry: export PATH := $(abspath $(OUT)/tools):$(PATH)
release-dry: images $(GORELEASER) $(CYCLONEDX) ## Build all files of a release into dist, and upload nothing
	SQSAFE_IMAGES=$(abspath $(OUT)/images) $(GO) test -count=1 -run TestImages -v ./internal/release/images
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean

# The images come first: of a release whose images fail, nothing is published.
.PHONY: release
release: export PATH := $(abspath $(OUT)/tools):$(PATH)
release: IMAGES_FLAGS := -push
release: images $(GORELEASER) $(CYCLONEDX) ## Release the tag of this commit; the release workflow calls it
	$(GORELEASER) release --clean

# The database must be reachable only with STRICT=1. Exit code 3 says that something was found.
STRICT ?=
.PHONY: vulnerabilities
vulnerabilities: $(GOVULNCHECK) ## Ask the Go vulnerability database for what our code calls
	@$(GOVULNCHECK) ./... && exit 0; status=$$?; \
	if [ -z "$(STRICT)" ] && [ $$status -ne 3 ]; then \
		echo "not checked: the database of vulnerabilities cannot be reached from here"; exit 0; \
	fi; exit $$status

.PHONY: sam-venv
sam-venv: $(SAM) ## Install the SAM CLI, which sam-build and sam-test use

# SAM has no option for compiler flags, so they are set in the environment.
.PHONY: sam-build
sam-build: export CGO_ENABLED := 0
sam-build: export GOFLAGS := -trimpath -tags=$(FUNCTION_TAGS) '-ldflags=-s -w'
sam-build: export SAM_CLI_TELEMETRY := 0
sam-build: $(SAM) ## Build the functions with the SAM CLI into .aws-sam, for ARCH
	$(OUT)/sam/bin/sam build --parameter-overrides Architecture=$(SAM_ARCH)

.PHONY: sam-test
sam-test: sam-build ## Check the template with the SAM CLI and invoke its functions in containers
	@set -e; trap 'internal/samtest/engine.sh stop' EXIT; \
	engine=$$(internal/samtest/engine.sh start $(OUT)/sam/bin/python); eval "$$engine"; \
	SAMTEST_TOOLS=$(abspath $(OUT)/sam/bin) $(GO) test -count=1 -parallel 2 -run SAM ./internal/samtest

.PHONY: cover
cover: ## Measure test coverage into cover.out and print the total
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1

.PHONY: cover-gate
cover-gate: ## Fail if the core packages are covered less than internal/coverage says
	$(GO) run ./internal/coverage

# "go test -list" prints the targets of a package before the line of the package.
by_package = awk '/^ok/ { for (i = 0; i < n; i++) print $$2, target[i]; n = 0 } /^$(1)/ { target[n++] = $$1 }'

.PHONY: bench
bench: ## Run each benchmark for BENCHTIME, and compare with a function without sqsafe
	@mkdir -p $(OUT)
	@$(GO) test -list '^Benchmark' ./... > $(OUT)/benchmarks
	@$(call by_package,Benchmark) $(OUT)/benchmarks | cut -d ' ' -f 1 | uniq | while read -r package; do \
		$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) "$$package" < /dev/null || exit 1; \
	done
	$(GO) run ./internal/bench $(BENCHFLAGS)

# What Powertools needs is installed into .build/compare; without Python or npm it is left out.
.PHONY: compare
compare: ## Compare with aws-lambda-go, two SDK calls by hand and Powertools (about ten minutes)
	$(GO) run ./internal/bench -compare $(COMPAREFLAGS)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@mkdir -p $(OUT)
	@$(GO) test -list '^Fuzz' ./... > $(OUT)/fuzz-targets
	@$(call by_package,Fuzz) $(OUT)/fuzz-targets | while read -r package target; do \
		echo "$$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$package" \
			< /dev/null || exit 1; \
	done

.PHONY: clean
clean: ## Remove all build results, including tools
	rm -rf $(OUT) dist .aws-sam .venv-lint .venv-powertools cover.out

$(GOLANGCI):
	GOBIN=$(abspath $(dir $@)) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(GOVULNCHECK):
	GOBIN=$(abspath $(dir $@)) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)

$(GORELEASER):
	GOBIN=$(abspath $(dir $@)) $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)

$(KO):
	GOBIN=$(abspath $(dir $@)) $(GO) install github.com/google/ko@$(KO_VERSION)

# .goreleaser.yaml finds this program in the path, so its folder has no version.
$(CYCLONEDX): Makefile
	GOBIN=$(abspath $(dir $@)) $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_VERSION)
	touch $@

# A link with the version in its name tells make that this version is installed.
$(CFN_LINT):
	python3 -m venv --clear .venv-lint
	.venv-lint/bin/pip install --quiet --disable-pip-version-check cfn-lint==$(CFN_LINT_VERSION)
	ln -s cfn-lint $@

$(SAM): $(SAM_PINS)
	python3 -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --requirement $(SAM_PINS)
	touch $@

$(AWS_CLI): $(AWS_CLI_PINS)
	python3 -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --requirement $(AWS_CLI_PINS)
	touch $@

$(POWERTOOLS): $(PYTHON_PINS)
	python3 -m venv --clear .venv-powertools
	.venv-powertools/bin/pip install --quiet --disable-pip-version-check --requirement $(PYTHON_PINS)
	touch $@
