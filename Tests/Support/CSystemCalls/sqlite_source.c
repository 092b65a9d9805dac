#include <sqlite3.h>

#include "system_calls.h"

void system_calls_sqlite(const int seed) {
  sqlite3_initialize();
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, seed, (sqlite3 *)0);
}
