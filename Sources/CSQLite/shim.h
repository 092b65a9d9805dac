#include <sqlite3.h>

/* sqlite3_db_config is variadic, which Swift cannot call. For the options that take an integer and report into none. */
static inline int sqlite3_db_config_integer(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}
