# Two commands do all: `make run` and `make test`. The rest are their parts.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

GO ?= go
MODULES := github.com/scorel/scorel/...
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/scorel/scorel/apps/cli.version=$(VERSION)
# How the program is built. vet, staticcheck and most tests use the same flags, so that each
# package is compiled once for all of them.
STATIC := CGO_ENABLED=0 GOFLAGS="$$($(GO) env GOFLAGS) -trimpath"
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
WEB := apps/web
SITE := $(WEB)/docs
EXAMPLES := docs/examples/extensions
FEISHU := $(EXAMPLES)/feishu
TS := packages/protocol/ts
GOFILES := $(shell find apps packages -name '*.go' -not -path '*/node_modules/*' -not -path 'apps/bench/*' 2>/dev/null)
SITEFILES := $(shell find docs $(SITE) -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -path 'docs/decisions/*' 2>/dev/null)
WEBFILES := $(shell find $(WEB)/src $(WEB)/public $(TS)/src -type f 2>/dev/null)

.PHONY: run build web site feishu image release test check test-go test-programs test-race test-page test-web test-e2e test-containers test-deploy test-install test-matrix test-wine test-agents fuzz bench bench-check bench-go bench-chat bench-idle soak deps clean FORCE

run: bin/scorel ## builds and starts relay, host and web UI in one process
	@exec bin/scorel up

# With the documentation, which `make run` does not wait for.
build: site
	@$(MAKE) bin/scorel

bin/scorel: $(WEB)/embed/page.zip $(wildcard $(WEB)/embed/docs.zip) $(GOFILES)
	$(STATIC) $(GO) build -ldflags '$(LDFLAGS)' -o $@ ./apps/cli/cmd/scorel

IMAGE ?= scorel

image: build ## a container image of bin/scorel, named $(IMAGE)
	deploy/image.sh bin/scorel '$(IMAGE)' '$(VERSION)'

# The signing key is in SCOREL_RELEASE_KEY_FILE; RELEASEFLAGS=-version=v1.2.3 is for a commit
# without a tag. See docs/releasing.md.
RELEASEFLAGS ?=

release: web site ## archives, packages, install scripts, checksums and signatures, in bin/release
	$(GO) run ./packages/release/cmd/makerelease $(RELEASEFLAGS)

web: $(WEB)/embed/page.zip

$(WEB)/embed/page.zip: $(WEB)/node_modules/.package-lock.json $(WEBFILES) $(WEB)/index.html $(WEB)/vite.config.ts $(WEB)/scripts/catalog.ts $(WEB)/scripts/shell.ts $(WEB)/scripts/pack.mjs
	cd $(WEB) && npm run --silent build

site: $(WEB)/embed/docs.zip ## the pages of docs/ as a relay serves them at /docs

$(WEB)/embed/docs.zip: $(SITE)/node_modules/.package-lock.json $(SITEFILES) $(WEB)/scripts/pack.mjs | $(WEB)/node_modules/.package-lock.json
	cd $(SITE) && npm run --silent build

# Not `npm ci`: it refuses the lock file where a registry does not serve the
# binaries of other platforms. The lock file still decides the versions.
%/node_modules/.package-lock.json: %/package.json %/package-lock.json
	cd $* && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

feishu: $(FEISHU)/dist/server.cjs ## the extension for Feishu, in docs/examples/extensions/feishu/dist

$(FEISHU)/dist/server.cjs: $(FEISHU)/node_modules/.package-lock.json $(wildcard $(FEISHU)/*.mjs) $(FEISHU)/extension.json $(EXAMPLES)/wecom/channel.mjs
	cd $(FEISHU) && npm run --silent build

# The shared parts are built before the tests run side by side. The unit tests of the page follow
# the part that ends first: with the race detector the Go tests take longer than those of programs.
test: deps check build feishu $(TS)/node_modules/.package-lock.json ## installs what the tests need and runs them all
	@MAKE='$(MAKE)' .ci/beside test-e2e $(if $(RACE),test-go 'test-programs test-web','test-go test-web' test-programs)

deps: ## what the tests need beyond Go and Node: a C compiler for -race, Chromium
	@.ci/deps

check: web
	@! git grep -nE '^(<<<<<<<|>>>>>>>) ' || { echo 'conflict markers were committed'; exit 1; }
	@! git ls-tree -rl HEAD | awk '$$4 > 2000000 { print; found = 1 } END { exit !found }' || { echo 'a file of over 2 MB was committed: a program?'; exit 1; }
	test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(STATIC) $(GO) vet $(MODULES)
	$(STATIC) $(GO) vet -tags agents ./apps/host/internal/backend
	$(STATIC) $(GO) run $(STATICCHECK) $(MODULES)

# With RACE=1, as in CI, the tests of packages run under the race detector
# (docs/decisions/0041-time-of-the-tests.md).
RACE ?=

# Code that only computes, in the goroutine of its caller: the race detector finds nothing
# there and makes it ten times as slow.
UNRACED := crypto/internal/fips140/... crypto/internal/fips140deps/... encoding/base64 modernc.org/... \
	github.com/rivo/uniseg mvdan.cc/sh/v3/syntax \
	github.com/scorel/scorel/packages/protocol/pair/stretch
DETECTOR := -race $(foreach package,$(UNRACED),'-gcflags=$(package)=-race=false')

# Most of the time of these tests is that of programs which they start or kill, and with
# -race each takes three times as long. What they share with other tests runs under it there.
PROGRAMS := $(addprefix github.com/scorel/scorel/,apps/cli apps/cli/e2e)
KILLED := -run '^TestKilled' ./apps/host
GOTEST := $(GO) test -vet=off -timeout 20m $(GOTESTFLAGS)

# Many tests wait for processes, so more packages than processors run at a time: twice as many, or
# one more under the race detector, with which they need more of the processors.
AT_ONCE = $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$(($(if $(RACE),n + 1,2 * n))))

# Under -race every process sleeps a second at its end, unless it is told not to;
# the tests start hundreds. `make check` vets all.
test-go test-race: export GORACE = atexit_sleep_ms=10

test-go: web site feishu ## the Go tests, except those of whole programs; RACE=1 runs them with -race
	@$(if $(RACE),,$(STATIC)) $(GOTEST) $(if $(RACE),$(DETECTOR)) -p $(AT_ONCE) -skip '^TestKilled' $(filter-out $(PROGRAMS),$(shell $(GO) list $(MODULES)))

test-programs: web $(TS)/node_modules/.package-lock.json ## the Go tests that start whole programs
	failed=; $(STATIC) $(GOTEST) $(PROGRAMS) || failed=1; $(STATIC) $(GOTEST) $(KILLED) || failed=1; [ -z "$$failed" ]

test-race: web $(TS)/node_modules/.package-lock.json ## test-programs with -race
	failed=; $(GOTEST) $(DETECTOR) $(PROGRAMS) || failed=1; $(GOTEST) $(DETECTOR) $(KILLED) || failed=1; [ -z "$$failed" ]

test-page: test-web test-e2e

test-web: web $(TS)/node_modules/.package-lock.json
	cd $(TS) && npm run --silent check && npm test --silent
	cd $(WEB) && npm run --silent lint && npm run --silent typecheck && npm test --silent
	cd $(WEB) && npm run --silent size

# The binary is one that people download: 50 MB is its limit.
test-e2e: build $(WEB)/node_modules/.package-lock.json ## the whole way in a real Chromium
	test "$$(wc -c < bin/scorel)" -lt 50000000 || { echo "bin/scorel is over 50 MB: what was linked in?"; exit 1; }
	cd $(WEB) && npm run --silent e2e

test-containers: build ## database tests in containers, and the compose files; needs Docker, installs it on Debian as root
	@.ci/containers

# deploy/check is outside go.work: what it checks with stays out of our build.
test-deploy: ## what deploy/ has for other programs, run with them; installs them on Debian as root
	@.ci/deploy

test-matrix: build ## this program together with that of an earlier revision, EARLIER=v1.2.3
	@.ci/matrix $(EARLIER)

test-install: web site $(WEB)/node_modules/.package-lock.json ## from curl to the first prompt in a clean Debian root, and its services under systemd; needs root on Debian
	@.ci/released

test-wine: ## unit tests as programs for Windows, under Wine; installs it on Debian as root
	@.ci/wine

test-agents: ## Claude Code, Codex, Gemini CLI and opencode, installed from npm (1.3 GB) and run against fake models
	@.ci/agents

# apps/bench is outside go.work: what it compares with stays out of our build.
BENCHFLAGS ?=

bench: bin/bench ## relays side by side: see docs/benchmarks.md
	bin/bench relays $(BENCHFLAGS)

bin/bench: FORCE
	cd apps/bench && GOWORK=off $(GO) build -o ../../$@ .

bench-check: ## apps/bench still builds, and its own tests pass; it downloads what it compares with
	cd apps/bench && GOWORK=off $(GO) vet ./... && GOWORK=off $(GO) test ./...

bench-go: ## the relay's data path, the seal, the resync
	$(GO) test -run '^$$' -bench . -benchmem ./apps/relay/... ./packages/protocol/seal

bench-chat: ## the terminal client: first frame, keystroke, memory, a session of 100,000 entries
	$(GO) test -run '^$$' -bench Chat -benchtime 20x -timeout 30m ./apps/cli/e2e

bench-idle: ## the program's start, and a host that does nothing: memory and wakeups in ten minutes
	$(GO) test -run '^$$' -bench Version -benchtime 50x ./apps/cli/e2e
	$(GO) test -run '^$$' -bench IdleHost -benchtime 10x -timeout 30m ./apps/cli/e2e

# The tests of the relay under many hosts and many connections, at the size of
# which make test runs a part, and what the sizing in docs/operations.md is made of.
soak: ## 10 000 hosts over a kill, a million connections; the longer the busier the machine, up to an hour
	SCOREL_SCALE_HOSTS=10000 $(GO) test -count 1 -timeout 10m -v -run KilledRelay ./apps/cli/e2e
	SCOREL_SOAK_CONNECTS=1000000 $(GO) test -count 1 -timeout 60m -v -run TestSoak ./apps/relay/faults
	$(GO) test -run '^$$' -bench RecordCost -benchtime 3000000x ./apps/relay/faults
	$(GO) test -run '^$$' -bench IdleCost -benchtime 1x ./apps/relay/faults

# 5 minutes for each of about fifty targets are four hours; CI runs a fixed number of inputs.
FUZZTIME ?= 5m

fuzz: ## fuzzes each parser of bytes from outside, FUZZTIME each
	.ci/fuzz $(FUZZTIME)

FORCE:

clean:
	rm -rf bin $(WEB)/node_modules $(SITE)/node_modules $(SITE)/dist $(TS)/node_modules $(FEISHU)/node_modules $(FEISHU)/dist $(WEB)/embed/*.zip
	find $(WEB)/dist -mindepth 1 -not -name .gitkeep -delete
