# Included by the Makefile at the root. `make bench` measures the design's budgets.
# BENCH="--quick" only checks that it works.

BENCH_FOLDER := .build/bench
BENCH_FLAGS := -std=c11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wconversion -pedantic -Werror
BENCH_PRODUCTS := porter-harness porter-server bench-machine-steps bench-json-porter bench-json-foundation \
  bench-commit-latency bench-server

# The references use the extension's SQLite.
BENCH_SQLITE = $(if $(findstring /,$(NIGHTPORTER_SQLITE)),$(NIGHTPORTER_SQLITE)/lib/libsqlite3.a,$(if \
  $(NIGHTPORTER_SQLITE),$(shell pkg-config --libs $(NIGHTPORTER_SQLITE)),-lsqlite3))

bench: ## measure the budgets, each figure beside its reference; also as JSON in .build/bench.json
	@scripts/setup bench
	@$(MAKE) --no-print-directory order
	@$(MAKE) --no-print-directory bench-programs
	@mkdir -p $(BENCH_FOLDER)
	@$(CC) $(BENCH_FLAGS) -static -Wl,--no-warnings Benchmarks/reference/cold.c -o $(BENCH_FOLDER)/cold \
	  -lsodium $(BENCH_SQLITE) -lm
	@$(CC) $(BENCH_FLAGS) Benchmarks/reference/cold.c -o $(BENCH_FOLDER)/cold-dynamic -lsodium $(BENCH_SQLITE) -lm
	@$(CC) $(BENCH_FLAGS) -static -Wl,--no-warnings -ISources/CLogSync/include Benchmarks/reference/push.c \
	  $(wildcard Benchmarks/reference/push/*.c) Sources/CLogSync/log_sync.c -o $(BENCH_FOLDER)/push -lsodium $(BENCH_SQLITE) -lm
	@$(CC) $(BENCH_FLAGS) Benchmarks/reference/commit.c -o $(BENCH_FOLDER)/commit $(BENCH_SQLITE) -lm
	@$(CC) $(BENCH_FLAGS) -static Benchmarks/measure.c -o $(BENCH_FOLDER)/measure
	@$(CC) $(BENCH_FLAGS) -static Benchmarks/server/provider.c -o $(BENCH_FOLDER)/provider
	@$(MAKE) --no-print-directory -s -C Benchmarks/sealed-store BUILD=$(CURDIR)/$(BENCH_FOLDER)
	@# The same extension, linked with a libsodium that has AEGIS-256; only one of our files is compiled differently for it.
	@sodium=$$(scripts/newer-libsodium) && \
	  sed '/CSealedVFS.build.cipher.c.o/d' $(PROGRAMS)/release/porter-harness.product/Objects.LinkFileList > $(BENCH_FOLDER)/harness.objects && \
	  $(CC) -O2 -std=c11 -I$$sodium/include -ISources/CSealedVFS/include -c Sources/CSealedVFS/cipher.c -o $(BENCH_FOLDER)/cipher-aegis.o && \
	  swiftc -static-executable -use-ld=lld -emit-executable -module-name porter_harness -Xlinker --gc-sections @$(BENCH_FOLDER)/harness.objects \
	    -Xlinker -T -Xlinker $(CURDIR)/scripts/private-functions.ld \
	    -Xlinker --symbol-ordering-file=$(ORDER) -Xlinker --no-warn-symbol-ordering $(RELOCATIONS) \
	    $(BENCH_FOLDER)/cipher-aegis.o $$sodium/lib/libsodium.a -lffi $(BENCH_SQLITE) -o $(BENCH_FOLDER)/harness-aegis-whole
	@scripts/hot-code rewrite $(BENCH_FOLDER)/harness-aegis-whole $(PROFILE) $(BENCH_FOLDER)/harness-aegis
	@NIGHTPORTER_LIBRARY=$(CURDIR)/$(LIBRARY)/libnightporter.so python3 Benchmarks/bench.py \
	  --programs $(PROGRAMS)/release --extension $(ORDERED) --references $(BENCH_FOLDER) --output .build/bench.json \
	  --plot $(if $(findstring --quick,$(BENCH)),$(BENCH_FOLDER),Benchmarks)/push.svg $(BENCH)

.PHONY: bench bench-programs
bench-programs:
	@for product in $(BENCH_PRODUCTS); do $(SWIFT_PROGRAMS) --product $$product 1>&2 || exit 1; done
