#include <sodium.h>

#include "system_calls.h"

static void (*source)(void *, size_t);

static const char *name(void) { return "simulation"; }

static uint32_t number(void) {
  uint32_t value;
  source(&value, sizeof value);
  return value;
}

static void fill(void *const bytes, const size_t count) { source(bytes, count); }

void system_calls_sodium(void (*filler)(void *, size_t)) {
  static randombytes_implementation simulated = {.implementation_name = name, .random = number, .buf = fill};
  source = filler;
  randombytes_set_implementation(filler == NULL ? &randombytes_sysrandom_implementation : &simulated);
}
