/// The promises of CSealedVFS, as C programs that both XCTest and the runner (for valgrind and coverage) run.
#ifndef SEALED_SCENARIOS_H
#define SEALED_SCENARIOS_H

#include <stddef.h>
#include <stdint.h>

/// Names of the scenarios, in order; NULL after the last.
const char *sealed_scenario_name(size_t index);

/// Runs a scenario in a new folder inside `directory`, which is removed if it passes. Returns 0 if every check held;
/// otherwise `message` names the failed check and the seed. On success `message` holds its counts. Only one call at a
/// time.
int sealed_scenario_run(const char *name, uint64_t seed, const char *directory, char *message, size_t length);

#endif
