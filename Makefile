# `make help` says what there is.

VERSION := $(shell sed -n 's/^\#define NP_VERSION "\(.*\)"/\1/p' Include/nightporter.h)
PREFIX ?= /usr/local
RELEASE := .build-release
# Release builds carry the Swift runtime with them, so that what is measured and installed needs none.
SWIFT_RELEASE := swift build -c release --scratch-path $(RELEASE) -Xswiftc -static-stdlib -Xswiftc -use-ld=lld
LIBRARY := $(RELEASE)/library
# Programs are wholly static: an extension starts in half the time and with two thirds of the memory, since nothing is
# relocated when it starts.
PROGRAMS := .build-programs
SWIFT_PROGRAMS := swift build -c release --scratch-path $(PROGRAMS) -Xswiftc -static-executable -Xswiftc -use-ld=lld

.PHONY: help demo test torture coverage lib install spec bench verify format lint clean
.DEFAULT_GOAL := help

help: ## what there is to make
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | sort | expand -t 10

demo: ## a device in the terminal: two apps, a server, a push, its notification; JSON=1 for one object a line
	@scripts/setup build
	@$(SWIFT_PROGRAMS) --product porter-server 1>&2
	@$(SWIFT_PROGRAMS) --product porter-harness 1>&2
	@$(PROGRAMS)/release/porter-harness device $(if $(JSON),--json) $(DEMO)

test: ## all tests; ends with how many passed and failed
	@scripts/setup test
	@scripts/test

lib: ## libnightporter.so, which needs no Swift on its target and shows only chat_* and np_*
	@scripts/setup build
	@$(SWIFT_RELEASE) --product nightporter \
	  -Xlinker --version-script=$(CURDIR)/pkg-config/exports.map -Xlinker -soname=libnightporter.so.0
	@mkdir -p $(LIBRARY)
	@cp $(RELEASE)/release/libnightporter.so $(LIBRARY)/libnightporter.so.$(VERSION)
	@strip --strip-unneeded $(LIBRARY)/libnightporter.so.$(VERSION)
	@ln -sf libnightporter.so.$(VERSION) $(LIBRARY)/libnightporter.so.0
	@ln -sf libnightporter.so.0 $(LIBRARY)/libnightporter.so
	@scripts/check-library $(LIBRARY)/libnightporter.so.$(VERSION)

install: lib ## headers, library and pkg-config file below PREFIX (/usr/local)
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 Include/*.h $(DESTDIR)$(PREFIX)/include
	install -m 755 $(LIBRARY)/libnightporter.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib
	ln -sf libnightporter.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libnightporter.so.0
	ln -sf libnightporter.so.0 $(DESTDIR)$(PREFIX)/lib/libnightporter.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' pkg-config/nightporter.pc.in \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/nightporter.pc

verify: ## what takes longer than a test may: whole walks, the sanitizers
	@scripts/setup test
	@scripts/verify

torture: ## apps and extensions on one store, frozen, killed, on failing disks; SECONDS=…, SEED=…, SEALED=0 or 1 if wanted
	@scripts/setup test
	@swift build --build-tests
	@PORTER_TORTURE_SECONDS=$(or $(SECONDS),60) PORTER_TORTURE_SEED=$(SEED) $(if $(SEALED),PORTER_TORTURE_SEALED=$(SEALED)) \
	  swift test --skip-build --disable-swift-testing --filter Torture.TortureTests

coverage: ## how many branches of the sealed VFS its tests take
	@scripts/setup test
	@$(MAKE) --no-print-directory -s -C Tests/CSealedVFSTests coverage

spec: ## writes anew what is made of spec/machines
	@scripts/setup build
	@swift run porter-machines generate

format: ## formats the Swift sources
	@swift format --in-place --parallel --configuration .swift-format -r Package.swift Sources Tests Benchmarks

lint: ## the format of Swift, the warnings of C
	@scripts/lint

clean: ## takes away what was built
	rm -rf .build $(RELEASE) $(PROGRAMS) .build-thread .build-address

include bindings/simplex-compat/compat.mk
include Benchmarks/bench.mk
