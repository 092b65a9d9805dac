# `make help` lists the targets.

VERSION := $(shell sed -n 's/^\#define NP_VERSION "\(.*\)"/\1/p' Include/nightporter.h)
# Also the number in the libraries' sonames: a program compiled for another one does not start.
ABI := $(shell sed -n 's/^\#define NP_ABI_VERSION \([0-9]*\)$$/\1/p' Include/nightporter.h)
PREFIX ?= /usr/local
RELEASE := .build-release
# Types are accessed through their own functions, not looked up by name when first needed: that lookup took a fifth of
# a push's instructions. The compiler specializes our own generic types in advance, as far as it can.
SWIFT_TYPES := -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors \
  -Xswiftc -Xfrontend -Xswiftc -prespecialize-generic-metadata
# Release builds include the Swift runtime, so that measured and installed programs need none.
SWIFT_RELEASE := swift build -c release --scratch-path $(RELEASE) -Xswiftc -static-stdlib -Xswiftc -use-ld=lld $(SWIFT_TYPES)
LIBRARY := $(RELEASE)/library
TRANSPORT := .build-programs/network
# The transport to a relay on the network is written in C, with libcurl.
NET_FLAGS := -std=c11 -D_GNU_SOURCE -O2 -fPIC -Wall -Wextra -Wconversion -pedantic -IInclude
# Programs are fully static: an extension starts in half the time and with two thirds of the memory, since nothing is
# relocated at start-up. Each function has its own section, so that the linker can put the functions that a push runs side by side
# (`make order`): the system maps 64 KB around each touched page, and without an order that was nearly all of the text. The linker
# keeps relocations, which `make order` needs afterwards; no process maps them.
PROGRAMS := .build-programs
SERVERS := .build-servers
ORDER := $(CURDIR)/$(PROGRAMS)/order.txt
# Otherwise the compiler would keep objects that an earlier build made without sections, since their other inputs are the same. It makes no
# jump tables: a push is no slower without them, and `scripts/hot-code` must trust BOLT with fewer.
SWIFT_SECTIONS := -Xswiftc -Xllvm -Xswiftc -min-jump-table-entries=1000 \
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
  -Xcc -ffunction-sections \
  -Xlinker -T -Xlinker $(CURDIR)/scripts/private-functions.ld
RELOCATIONS := -Xlinker --emit-relocs
PROFILE := $(CURDIR)/$(PROGRAMS)/order.profile
ORDERED := $(PROGRAMS)/ordered/porter-harness
SWIFT_ORDER = $(if $(wildcard $(ORDER)),-Xlinker --symbol-ordering-file=$(ORDER) -Xlinker --no-warn-symbol-ordering)
SWIFT_PROGRAMS = swift build -c release --scratch-path $(PROGRAMS) -Xswiftc -static-executable -Xswiftc -use-ld=lld $(SWIFT_TYPES) \
  $(SWIFT_SECTIONS) $(RELOCATIONS) $(SWIFT_ORDER)
# The program made by `make order`, unless another was linked since.
HARNESS = $$([ $(ORDERED) -nt $(PROGRAMS)/release/porter-harness ] && echo $(ORDERED) || echo $(PROGRAMS)/release/porter-harness)

.PHONY: help extension demo scenarios test incidents torture coverage lib install spec bench verify format lint clean relay servers deb check-debs bench-relay bench-jetstream bench-timing bench-providers bench-delay bench-delay-jetstream bench-scale bench-scale-jetstream bench-pushes-jetstream bench-wakes-jetstream
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | sort | expand -t 17

demo: ## play a device in the terminal; SCENARIO=name or all (`make scenarios` lists them), NETWORK=1 with porter-relay, JSON=1, HTML=FILE writes a page
	@scripts/setup build
ifdef SCENARIO
	@swift build --product porter-server 1>&2 && swift build --product porter-harness 1>&2
	@$(if $(NETWORK),scripts/setup network && swift build --product nightporter-net 1>&2)
	@$(if $(NETWORK),for program in porter-relay porter-push; do swift build --package-path Servers --product $$program 1>&2 || exit 1; done)
	@scripts/scenarios $(SCENARIO) $(if $(NETWORK),--network Servers/.build/debug) $(if $(JSON),--json) $(if $(HTML),--page $(HTML)) $(DEMO)
else ifdef NETWORK
	@scripts/setup network
	@$(MAKE) --no-print-directory servers extension 1>&2
	@$(HARNESS) device --network $(SERVERS)/release $(if $(JSON),--json) $(if $(HTML),--page $(HTML)) $(DEMO)
else
	@$(MAKE) --no-print-directory programs
	@$(HARNESS) device --server $(PROGRAMS)/release/porter-server $(if $(JSON),--json) $(if $(HTML),--page $(HTML)) $(DEMO)
endif

scenarios: ## list the nights that `make demo SCENARIO=name` plays
	@scripts/setup build
	@swift build --product porter-harness 1>&2
	@.build/debug/porter-harness scenarios

test: ## run all tests; the last line counts those that passed and failed
	@scripts/setup test
	@scripts/test

lib: ## build libnightporter.so, which needs no Swift on its target and exports only chat_* and np_*, and libnightporter-net.so beside it
	@scripts/setup build
	@$(SWIFT_RELEASE) --product nightporter \
	  -Xlinker --version-script=$(CURDIR)/pkg-config/exports.map -Xlinker -soname=libnightporter.so.$(ABI)
	@mkdir -p $(LIBRARY)
	@cp $(RELEASE)/release/libnightporter.so $(LIBRARY)/libnightporter.so.$(VERSION)
	@strip --strip-unneeded $(LIBRARY)/libnightporter.so.$(VERSION)
	@ln -sf libnightporter.so.$(VERSION) $(LIBRARY)/libnightporter.so.$(ABI)
	@ln -sf libnightporter.so.$(ABI) $(LIBRARY)/libnightporter.so
	@scripts/check-library nightporter $(LIBRARY)/libnightporter.so.$(VERSION)
	@mkdir -p $(LIBRARY)
	@$(CC) $(NET_FLAGS) -shared -Wl,-soname,libnightporter-net.so.$(ABI) $(wildcard Sources/CNightporterNet/*.c) \
	  -o $(LIBRARY)/libnightporter-net.so.$(VERSION) -lcurl -pthread
	@strip --strip-unneeded $(LIBRARY)/libnightporter-net.so.$(VERSION)
	@ln -sf libnightporter-net.so.$(VERSION) $(LIBRARY)/libnightporter-net.so.$(ABI)
	@ln -sf libnightporter-net.so.$(ABI) $(LIBRARY)/libnightporter-net.so
	@scripts/check-library nightporter-net $(LIBRARY)/libnightporter-net.so.$(VERSION)

relay: servers ## build porter-relay, the relay on the network, in .build-servers (Servers/README.md)

servers: ## build the programs of Servers
	@scripts/setup build
	@scripts/setup servers
	@swift build -c release --package-path Servers --scratch-path $(SERVERS) -Xswiftc -static-stdlib -Xswiftc -use-ld=lld

deb: servers lib ## build Debian packages of the programs and the library in DEBS (.build-debs)
	@scripts/setup deb
	@$(SWIFT_PROGRAMS) --product porter-server 1>&2
	@SERVERS=$(SERVERS)/release SERVER=$(PROGRAMS)/release/porter-server LIBRARY=$(LIBRARY) scripts/debs $(or $(DEBS),.build-debs)

check-debs: ## check the packages of `make deb` with lintian, and their manuals with mandoc
	@scripts/setup verify
	@debs="$$(mktemp -d)" && trap 'rm -rf "$$debs"' EXIT && $(MAKE) --no-print-directory deb DEBS="$$debs" && scripts/check-debs "$$debs"

bench-relay: servers ## measure porter-relay beside its back end and plain SQLite; COUNT=messages, FOLDER=on this disk
	@scripts/setup test
	@PORTER_RELAY_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-relay PORTER_RELAY_LOAD=$(CURDIR)/$(SERVERS)/release/relay-load \
	  COUNT=$(or $(COUNT),20000) $(if $(FOLDER),FOLDER=$(FOLDER)) .venv/bin/python Servers/Benchmarks/relay.py

bench-jetstream: servers ## measure porter-relay on NATS JetStream beside publishes through libnats; COUNT=messages, NODES=1, MAILBOXES=3000, PARTITIONS=16, CLIENTS="16 128", ROUNDS=1
	@scripts/setup test
	@PORTER_RELAY_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-relay PORTER_RELAY_LOAD=$(CURDIR)/$(SERVERS)/release/relay-load \
	  COUNT=$(or $(COUNT),6000) NODES="$(or $(NODES),1 3)" .venv/bin/python Servers/Benchmarks/jetstream.py

bench-timing: servers ## measure whether a relay's time tells a missing mailbox from a wrong key; COUNT=3000 questions, COLD=1000, STORES="file node"
	@scripts/setup test
	@PORTER_RELAY_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-relay COUNT=$(COUNT) COLD=$(COLD) STORES="$(STORES)" \
	  .venv/bin/python Servers/Benchmarks/timing.py

bench-providers: servers ## measure how fast porter-push sends to APNs, beside h2load and the same stand-in; COUNT=pushes
	@scripts/setup bench
	@PORTER_PUSH_LOAD=$(CURDIR)/$(SERVERS)/release/push-load COUNT=$(or $(COUNT),50000) python3 Servers/Benchmarks/providers.py

bench-delay: servers lib ## measure the delay from an accepted message to the push service at half of the greatest load; RATE=a second, TOKENS=2000, DURATION=25, FOLDER=on this disk
	@scripts/setup test
	@PORTER_RELAY_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-relay PORTER_PUSH_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-push \
	  PORTER_DELAY_LOAD=$(CURDIR)/$(SERVERS)/release/delay-load \
	  NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so NIGHTPORTER_NET_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter-net.so \
	  RATE=$(or $(RATE),0) TOKENS=$(or $(TOKENS),2000) DURATION=$(or $(DURATION),25) $(if $(FOLDER),FOLDER=$(FOLDER)) \
	  .venv/bin/python Servers/Benchmarks/delay.py

bench-delay-jetstream: servers lib ## the same with mailboxes and tokens in NATS JetStream; NODES=1, RATE=a second, TOKENS=2000, DURATION=25
	@scripts/setup test
	@PORTER_RELAY_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-relay PORTER_PUSH_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-push \
	  PORTER_DELAY_LOAD=$(CURDIR)/$(SERVERS)/release/delay-load PORTER_STORE_LOAD=$(CURDIR)/$(SERVERS)/release/store-load \
	  NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so NIGHTPORTER_NET_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter-net.so \
	  NODES=$(or $(NODES),1) RATE=$(or $(RATE),0) TOKENS=$(or $(TOKENS),2000) DURATION=$(or $(DURATION),25) $(if $(FOLDER),FOLDER=$(FOLDER)) \
	  .venv/bin/python Servers/Benchmarks/delay_jetstream.py

bench-scale: servers lib ## measure porter-push with many tokens, ten times as many subscriptions, and SQLite; TOKENS=1000000, FOLDER=on this disk
	@scripts/setup bench
	@$(SWIFT_PROGRAMS) --product porter-server 1>&2
	@mkdir -p $(BENCH_FOLDER)
	@$(CC) $(BENCH_FLAGS) -static Benchmarks/server/provider.c -o $(BENCH_FOLDER)/provider
	@PORTER_PUSH=$(SERVERS)/release/porter-push PORTER_SERVER=$(PROGRAMS)/release/porter-server PROVIDER=$(BENCH_FOLDER)/provider \
	  NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so TOKENS=$(or $(TOKENS),1000000) $(if $(FOLDER),FOLDER=$(FOLDER)) \
	  python3 Servers/Benchmarks/scale.py

bench-scale-jetstream: servers ## measure what pushes cost with few and many tokens in NATS JetStream; TOKENS=1000000
	@scripts/setup test
	@PORTER_STORE_LOAD=$(CURDIR)/$(SERVERS)/release/store-load TOKENS=$(or $(TOKENS),1000000) \
	  .venv/bin/python Servers/Benchmarks/scale_jetstream.py

bench-pushes-jetstream: servers lib ## measure what pushes cost porter-push and a NATS node with few and with many tokens; TOKENS=1000000, ACTIVE=75000
	@scripts/setup test
	@PORTER_RELAY_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-relay PORTER_PUSH_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-push \
	  PORTER_DELAY_LOAD=$(CURDIR)/$(SERVERS)/release/delay-load PORTER_STORE_LOAD=$(CURDIR)/$(SERVERS)/release/store-load \
	  NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so NIGHTPORTER_NET_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter-net.so \
	  TOKENS=$(or $(TOKENS),1000000) ACTIVE=$(or $(ACTIVE),75000) .venv/bin/python Servers/Benchmarks/push_cost_jetstream.py

bench-wakes-jetstream: servers lib ## measure what waiting wake-ups cost in NATS JetStream; TOKENS=1000000
	@scripts/setup test
	@PORTER_RELAY_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-relay PORTER_PUSH_PROGRAM=$(CURDIR)/$(SERVERS)/release/porter-push \
	  NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so TOKENS=$(or $(TOKENS),1000000) \
	  .venv/bin/python Servers/Benchmarks/wakes_jetstream.py

install: lib ## install headers, Swift's module map, library and pkg-config file below PREFIX (/usr/local)
	install -d $(DESTDIR)$(PREFIX)/include/nightporter $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 Include/*.h $(DESTDIR)$(PREFIX)/include
	sed 's|header "|header "../|' Include/module.modulemap > $(DESTDIR)$(PREFIX)/include/nightporter/module.modulemap
	for name in nightporter nightporter-net; do \
	  find $(DESTDIR)$(PREFIX)/lib -maxdepth 1 -type l -name "lib$$name.so.*" -delete && \
	  install -m 755 $(LIBRARY)/lib$$name.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib && \
	  ln -sf lib$$name.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/lib$$name.so.$(ABI) && \
	  ln -sf lib$$name.so.$(ABI) $(DESTDIR)$(PREFIX)/lib/lib$$name.so && \
	  sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' pkg-config/$$name.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$name.pc || exit 1; \
	done

order: ## trace pushes into the program of `make demo`, and put what they run side by side; NETWORK=1 that of `make extension`
	@scripts/setup order
	@rm -rf $(ORDER) $(PROFILE) $(PROGRAMS)/ordered
	@$(MAKE) --no-print-directory programs $(if $(NETWORK),servers extension)
	@$(MAKE) --no-print-directory lib
	@NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so scripts/order $(PROGRAMS)/release $(ORDER) \
	  $(if $(NETWORK),$(SERVERS)/release/porter-relay)
	@rm -f $(PROGRAMS)/release/porter-harness
	@$(MAKE) --no-print-directory $(if $(NETWORK),extension,programs)
	@NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so scripts/hot-code trace $(PROGRAMS)/release $(PROFILE) \
	  $(if $(NETWORK),$(SERVERS)/release/porter-relay)
	@scripts/hot-code rewrite $(PROGRAMS)/release/porter-harness $(PROFILE) $(ORDERED)
	@# The rewritten program must also work where no push was traced: a night has all kinds of processes.
	@$(ORDERED) device $(if $(NETWORK),--network $(SERVERS)/release,--server $(PROGRAMS)/release/porter-server) > $(PROGRAMS)/night.txt || \
	  { cat $(PROGRAMS)/night.txt >&2; echo "order: a night failed with the program that BOLT has rewritten" >&2; rm -rf $(PROGRAMS)/ordered; exit 1; }
	@rm $(PROGRAMS)/night.txt

.PHONY: order programs
programs:
	@$(SWIFT_PROGRAMS) --product porter-server 1>&2
	@$(SWIFT_PROGRAMS) --product porter-harness 1>&2

# With libcurl and OpenSSL linked statically: an extension with Debian's shared ones needs 10 MB more.
extension: ## build porter-harness with the transport to a relay on the network, wholly static, in .build-programs
	@scripts/setup network
	@mkdir -p $(TRANSPORT)
	@libcurl="$$(scripts/small-libcurl)" && \
	  $(CC) $(NET_FLAGS) -ffunction-sections -I$$libcurl/include -r -nostdlib $(wildcard Sources/CNightporterNet/*.c) -o $(TRANSPORT)/net.o && \
	  $(SWIFT_PROGRAMS) --product porter-harness -Xlinker $(CURDIR)/$(TRANSPORT)/net.o -Xlinker $$libcurl/lib/libcurl.a \
	    -Xlinker -lnghttp2 -Xlinker -lssl -Xlinker -lcrypto

verify: ## run the checks that take too long for a test: whole walks, sanitizers, chaos; CHECKS="torture packages" some of `scripts/verify --list`
	@scripts/setup test
	@scripts/setup verify
	@scripts/verify $(CHECKS)

incidents: ## print the catalogue of incidents with each test and its result in the last `make test`
	@[ -s .build/test-results.txt ] || $(MAKE) --no-print-directory test
	@scripts/claims incidents .build/test-results.txt

torture: ## freeze and kill apps, extensions and people who write, call and ask for contact, on failing disks; options SECONDS=…, SEED=…, SEALED=0 or 1
	@scripts/setup test
	@swift build --build-tests
	@PORTER_TORTURE_SECONDS=$(or $(SECONDS),60) PORTER_TORTURE_SEED=$(SEED) $(if $(SEALED),PORTER_TORTURE_SEALED=$(SEALED)) \
	  swift test --skip-build --disable-swift-testing --filter Torture.TortureTests

coverage: ## measure the branch coverage of the sealed VFS's tests
	@scripts/setup test
	@$(MAKE) --no-print-directory -s -C Tests/CSealedVFSTests coverage

spec: ## regenerate everything generated from spec/machines
	@scripts/setup build
	@swift run porter-machines generate

format: ## format the Swift sources
	@swift format --in-place --parallel --configuration .swift-format -r Package.swift Sources Tests Benchmarks Servers/Package.swift Servers/Sources Servers/Tests Servers/Benchmarks

lint: ## check the format of Swift and the warnings of C
	@scripts/lint

clean: ## delete build products
	rm -rf .build Servers/.build $(RELEASE) $(PROGRAMS) $(SERVERS) .build-debs .build-servers-address .build-thread .build-address .build-aegis .build-sqlite

include bindings/simplex-compat/compat.mk
include Benchmarks/bench.mk
