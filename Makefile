# make lists what there is. Only Go and make are needed for build, demo and test.

ALGORITHM ?= bully
ALGORITHMS ?= broadcast bully chubby consensus franklin hs invitation raft ring stoller tokenring zookeeper
NODES ?= 5
# How many random real clusters make truth starts.
SEEDS ?= 5
# Calls of each target. No time: when that ends, Go 1.26 may take its own end for a failure (go.dev/issue/75804).
FUZZTIME ?= 100000x
# 33 batches of them: a million schedules.
RUNS ?= 31000
# none: the algorithm's nominee leads, best-effort; or some of the nodes, as 1-3.
VOTERS ?=
# In place of votes: redis, postgres, etcd or zookeeper, whose server is started, and ends, with the demo.
STORE ?=
# Of whole nodes, in virtual time.
NODERUNS ?= 2000
PROVE ?= 3m
# Leaders that failover-secured takes away, of nodes with credentials and of nodes without.
KILLS ?= 45
# on: prove sends hostile traffic to nodes with credentials, a million frames of it. It needs root on Linux, and ip.
SECURITY ?=
# Where known weaknesses are looked up; file:///DIRECTORY for a copy of it.
VULNDB ?= https://vuln.go.dev

# Also read by scripts/up, where they are given; it knows those of the last time.
export $(foreach name,ALGORITHM NODES VOTERS,$(if $(filter file,$(origin $(name))),,$(name)))

GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.9.0

# The race detector needs a C compiler; without one Go turns cgo off by itself.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

.PHONY: help build demo demo-fencing picture image up down status test test-long lint supply fmt fuzz truth test-kubernetes sim sim-nodes bench failover failover-secured compare prove clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile
	@echo 'and, as they stand: ALGORITHM=$(ALGORITHM) NODES=$(NODES) VOTERS=$(or $(VOTERS),1-$(NODES)) FUZZTIME=$(FUZZTIME) RUNS=$(RUNS)'

build: ## build the static binary bin/ringleader
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -tags urfave_cli_no_docs -o bin/ringleader ./cmd/node

demo: build ## elect on NODES real processes, kill the leader, see the next one rise
	@bin/ringleader demo --algorithm $(ALGORITHM) --nodes $(NODES) $(if $(filter none,$(VOTERS)),--voters none) \
		$(if $(STORE),--store $(STORE))

demo-fencing: build ## pause the leader, let it wake and write, see the storage refuse it
	@bin/ringleader demo --fencing --algorithm $(ALGORITHM) --nodes $(NODES)

picture: build ## draw docs/failover.svg: a failover on three real processes
	@logs=$$(mktemp -d); trap 'rm -rf "$$logs"' EXIT; \
		bin/ringleader demo --algorithm $(ALGORITHM) --nodes 3 --logs "$$logs" >/dev/null && \
		bin/ringleader rounds show 2 -o svg "$$logs" > docs/failover.svg

image: build ## build the image, and remember how the cluster is to be: then docker-compose up
	@scripts/image

up: build ## build the image and start NODES containers, 1 to 50
	@scripts/up

down: ## stop and remove the containers
	@scripts/down

status: ## ask the containers who leads
	@scripts/status

# -count=1: Go's cache does not see what a test's processes and containers run. Most tests wait more than they
# compute: eight run at once, in each of four packages.
GOTEST := go test -count=1 -vet=off -ldflags '-s -w' -timeout 30m -p 4 -parallel 8
SHORT := $(GOTEST) -skip '^TestLong'
LONG := $(GOTEST) -run '^TestLong'

# Without the race detector, the slowest first. Where nothing runs concurrently it would cost many minutes, and find
# nothing. Real processes are slow with it: make test-long runs them so. TestStallsEnd says why it runs without.
PLAIN := ./test/... ./cmd/node ./examples/... ./internal/sim ./internal/nodesim ./rounds/... ./node/statefile ./algorithms/... \
	./internal/archtest ./internal/cost ./internal/bench/history ./internal/highest ./proto

test: ## vet and run the tests, with the race detector where there is a C compiler: before each commit
	CGO_ENABLED=0 go vet ./...
	@$(if $(RACE),,echo 'no C compiler here: the tests run WITHOUT the race detector')
	@docker version >/dev/null 2>&1 || echo 'no Docker engine here: the containers are NOT tested'
	CGO_ENABLED=0 $(SHORT) $(PLAIN)
	CGO_ENABLED=0 $(GOTEST) -run '^TestStallsEnd$$' ./internal/daemon
	$(GOTEST) $(RACE) -skip '^(TestLong.*|TestStallsEnd)$$' $$(go list ./... | grep -v -x -F "$$(go list $(PLAIN))")
	@echo 'make test-long adds: long schedules, every rule removed, all algorithms on real processes,' \
		'all processes with the race detector, fuzzing, databases'

test-long: ## what make test has no time for: long schedules, all algorithms, fuzzing, databases
	$(LONG) ./internal/sim
	$(LONG) $(RACE) $$(grep -rl '^func TestLong' --include='*_test.go' . | xargs -n 1 dirname | sort -u | \
		grep -v /internal/sim$$)
	$(SHORT) $(RACE) ./cmd/node ./internal/highest ./node/statefile
	@$(MAKE) --no-print-directory fuzz FUZZTIME=20000x

# The API server is built from its Go module: minutes, and much from the module proxy, the first time. A module of its
# own keeps that, and client-go, out of ours.
KUBERNETES := $(CURDIR)/bin/kubernetes

test-kubernetes: ## elections on a real API server of Kubernetes, with candidates on client-go; needs etcd
	mkdir -p $(KUBERNETES)
	cd test/kubernetes && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $(KUBERNETES) ./apiserver ./rival
	RINGLEADER_KUBERNETES=$(KUBERNETES) go test -count=1 -timeout 20m -v -tags kubernetes \
		-run '^TestRealServer$$' ./store/kubernetes

lint: ## run golangci-lint, pinned; the first time it is built from source
	$(GOLANGCI) run ./...

supply: build ## review what is linked: licences, known weaknesses; build twice, and print the hash
	CGO_ENABLED=0 $(GOTEST) -v -run '^(TestLicences|TestLongReproducible)$$' ./internal/buildinfo -args -empty-cache
	@if curl -fsS -m 10 -o /dev/null $(VULNDB)/index/db.json; then \
		CGO_ENABLED=0 $(GOVULNCHECK) -db $(VULNDB) -tags urfave_cli_no_docs ./...; \
	else \
		echo 'known weaknesses were NOT looked up: $(VULNDB) cannot be reached from here (or there is no curl)'; \
	fi
	@bin/ringleader version
	@printf 'SHA-256 '; { sha256sum bin/ringleader 2>/dev/null || shasum -a 256 bin/ringleader; }

fmt: ## format all Go files
	$(GOLANGCI) fmt ./...

truth: ## compare what rounds tells of simulated and of SEEDS real clusters with what happened
	-go test -count=1 -timeout 0 ./rounds -run '^TestTruth$$' -args -truth-seeds 60
	go test -count=1 -timeout 0 -tags realtruth ./test/truth -args -seeds $(SEEDS)

fuzz: ## fuzz each decoder, with FUZZTIME calls
	@set -e; for pkg in $$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n 1 dirname | sort -u); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

sim: build ## simulate RUNS random fault schedules of each algorithm, without and with voters, and fencing
	@batches=0 bad=0; \
	for algorithm in $(ALGORITHMS); do for mode in '--voters none' '--voters drawn' '--voters drawn --fence'; do \
		case "$$algorithm $$mode" in chubby*none | raft*none | raft*--fence) continue ;; esac; \
		batches=$$((batches + 1)); \
		bin/ringleader simulate --algorithm $$algorithm $$mode --runs $(RUNS) || bad=$$((bad + 1)); \
	done; done; \
	echo "$$((batches * $(RUNS))) schedules in $$batches batches; batches with violations: $$bad"; \
	[ "$$bad" -eq 0 ]

sim-nodes: ## simulate NODERUNS random fault schedules of whole nodes: runtime, disk, links, functions
	go test -count=1 -timeout 0 ./internal/nodesim -run TestSchedules -v -args -seeds $(NODERUNS) -all

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

failover: build ## measure failovers of ALGORITHM (several between commas, or all) on NODES real processes
	@bin/ringleader bench failover --algorithm $(ALGORITHM) --nodes $(NODES)

failover-secured: build ## measure what credentials cost: failovers and idle nodes, with and without, in turn
	@bin/ringleader bench failover --secured --algorithm $(ALGORITHM) --nodes $(NODES) --voters all --kills $(KILLS)
	@bin/ringleader bench scale --secured --algorithm $(ALGORITHM) --sizes 3,3,3 --kills 1 --idle 60s

compare: build ## put every algorithm through the same faults on NODES real processes: bin/compare.html
	@bin/ringleader bench compare --nodes $(NODES) $(if $(SEED),--seed $(SEED)) -o html > bin/compare.html; \
		status=$$?; echo 'see bin/compare.html'; exit $$status

prove: build ## let real processes fail in many ways for PROVE; with SECURITY=on let strangers attack them
ifeq ($(SECURITY),on)
	CGO_ENABLED=0 CI=true $(GOTEST) -tags hostile -run '^TestHostileTraffic$$' -v ./cmd/node -args -frames 1000000
else
	@bin/ringleader bench fencing --time $(PROVE) --nodes $(NODES) $(if $(SEED),--seed $(SEED)) \
		$(if $(filter file,$(origin ALGORITHM)),,--algorithm $(ALGORITHM))
endif

clean: ## remove what was built
	rm -rf bin
