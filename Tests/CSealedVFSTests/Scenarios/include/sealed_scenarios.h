/// What CSealedVFS promises, as programs in C: XCTest and the runner (for valgrind and coverage) both run these.
#ifndef SEALED_SCENARIOS_H
#define SEALED_SCENARIOS_H

#include <stddef.h>
#include <stdint.h>

/// Names of the scenarios, in order; NULL after the last.
const char *sealed_scenario_name(size_t index);

/// Runs a scenario in a new folder inside `directory`, which is removed when it passed. Returns 0 when every check held; else `message`
/// says which did not, with the seed. On success `message` holds its counts. To be called once at a time.
int sealed_scenario_run(const char *name, uint64_t seed, const char *directory, char *message, size_t length);

#endif
