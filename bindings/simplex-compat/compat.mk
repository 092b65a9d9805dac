# Included by the Makefile at the root. `make compat` makes .build/compat, a folder for SIMPLEX_LIBS_DIR.
# COMPAT_LIBRARY is the libnightporter to put there; the tests pass the one they were built with.

COMPAT ?= .build/compat
COMPAT_LIBRARY ?= $(LIBRARY)/libnightporter.so
COMPAT_SOURCES := $(dir $(lastword $(MAKEFILE_LIST)))
# Also read here: the tests use this file without the Makefile.
ABI ?= $(shell sed -n 's/^\#define NP_ABI_VERSION \([0-9]*\)$$/\1/p' $(COMPAT_SOURCES)../../Include/nightporter.h)
COMPAT_WARNINGS := -std=gnu11 -O2 -Wall -Wextra -Werror

compat: lib compat-folder ## build libsimplex.so: this library under SimpleX's name, in .build/compat for SIMPLEX_LIBS_DIR

# libnightporter under its soname (and, for a library of a plain Swift build, under that one's), beside libsimplex, which finds it by $ORIGIN.
compat-folder:
	@mkdir -p $(COMPAT)
	@cp -L $(COMPAT_LIBRARY) $(COMPAT)/libnightporter.so.$(ABI)
	@ln -sf libnightporter.so.$(ABI) $(COMPAT)/libnightporter.so
	@if [ -e $(dir $(COMPAT_LIBRARY))libnightporter-net.so ]; then \
	  cp -L $(dir $(COMPAT_LIBRARY))libnightporter-net.so $(COMPAT)/libnightporter-net.so.$(ABI); fi
	@$(CC) $(COMPAT_WARNINGS) -shared -fPIC -pthread -I$(COMPAT_SOURCES)../../Include $(COMPAT_SOURCES)libsimplex.c \
	  -o $(COMPAT)/libsimplex.so -Wl,-soname,libsimplex.so -Wl,--version-script=$(COMPAT_SOURCES)exports.map \
	  -Wl,-rpath,'$$ORIGIN' -Wl,--no-as-needed -L$(COMPAT) -l:libnightporter.so.$(ABI) -ldl
	@echo "$(COMPAT)/libsimplex.so"

compat-bots: ## play the official package's own example bot, and a bot with a menu, against a visitor, in processes
	@scripts/setup test
	@swift build --product nightporter
	@$(MAKE) --no-print-directory compat-folder COMPAT_LIBRARY=.build/debug/libnightporter.so
	@SIMPLEX_LIBS_DIR=$(CURDIR)/$(COMPAT) .venv/bin/python bindings/simplex-compat/bots/play.py

.PHONY: compat compat-folder compat-bots
