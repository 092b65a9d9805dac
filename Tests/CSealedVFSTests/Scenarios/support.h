#define _GNU_SOURCE
// Tools for the scenarios: checks, generated values, databases, files, and the VFS that fails on demand.
#ifndef SUPPORT_H
#define SUPPORT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty_vfs.h"
#include "sealed_vfs.h"

// ---- Checks: the first that fails ends the scenario ----

_Noreturn void fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define CHECK(condition, ...) ((condition) ? (void)0 : fail(__FILE__, __LINE__, __VA_ARGS__))
#define CHECK_EQUAL(left, right)                                                             \
  do {                                                                                       \
    long long left_value = (long long)(left), right_value = (long long)(right);              \
    CHECK(left_value == right_value, #left " is %lld, not %lld", left_value, right_value);   \
  } while (0)
// Runs `body`; false if a check in it failed, whose text is then in `failed_check()`. Does not nest.
bool holds(void (*body)(void *context), void *context);
const char *failed_check(void);
// Closes what a failed body has left open.
void close_databases(void);
// For a forked process that may wait forever: it ends with the scenario's process.
void end_with_parent(void);
// Ends a forked process without running the parent's exit handlers.
_Noreturn void leave(int code);
// What a passed scenario reports about itself.
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- Generated values (splitmix64) ----

struct dice { uint64_t state; };
uint64_t roll(struct dice *dice);
uint64_t below(struct dice *dice, uint64_t limit);
bool chance(struct dice *dice, unsigned percent);

// ---- Files ----

// A path in the scenario's folder; valid until it ends.
const char *path_of(const char *name);
const char *with_suffix(const char *path, const char *suffix);
bool file_exists(const char *path);
long file_size(const char *path);
uint8_t *file_load(const char *path, size_t *length);  // free it
void file_store(const char *path, const void *bytes, size_t length);
void file_copy(const char *from, const char *to);
void database_remove(const char *path);
// Where the first frame of a sealed database's log is, and where its main file's salt is: both depend on the cipher.
size_t log_start(const char *path);
size_t salt_start(const char *path);
enum { LONGEST_LOG_START = 144 };
// Writes into an open file behind SQLite's back: in a child, because closing the file would drop this process's locks.
void file_poke(const char *path, long offset, const void *bytes, size_t length);
bool file_contains(const char *path, const char *text);

// ---- Databases ----

// The cipher to seal databases with: the environment's (SEALED_CIPHER, "xchacha" or "aegis"), else the fastest. A
// scenario may choose another until it ends.
extern sealed_vfs_cipher test_cipher;
extern const uint8_t test_key[SEALED_VFS_KEY_BYTES];
// Registers test_key for the path, and keeps it.
void use_key(const char *path);
// Opens the database, which must succeed. vfs NULL: plain.
sqlite3 *database_open(const char *path, const char *vfs);
void database_close(sqlite3 *database);
// Runs SQL, which must succeed.
void run_sql(sqlite3 *database, const char *format, ...) __attribute__((format(printf, 2, 3)));
int try_sql(sqlite3 *database, const char *sql);
long long ask(sqlite3 *database, const char *sql);
// All tables' contents and the schema, as text; NULL if anything fails, with the code. Free it.
char *database_dump(sqlite3 *database, int *code);
// A hash of all rows of one statement with their types; also returns its error code.
uint64_t query_hash(sqlite3 *database, const char *sql, int *code);
// Copies the database with the backup API, which reads every page; returns the code of the first that fails, or of
// opening.
int read_every_page(const char *path);
void expect_sound(sqlite3 *database);

// A database of one table whose rows fill overflow pages with nonzero content: to SQLite a page of zeros among them is
// not an error. `overflowing_rows` reads each row by itself; `changed` may have another content. Wrong content is a
// failure, an error is not. Returns how many could be read.
enum { OVERFLOWING_PAGE = 4096, OVERFLOWING_ROWS = 40 };
void overflowing_make(const char *path, const char *mode);
int overflowing_rows(sqlite3 *database, int changed);

sealed_vfs_report last_report(void);
const char *describe(sealed_vfs_report report);

// ---- The VFS "faulty", and "sealed-faulty" over it ----

// See faulty_vfs.h.
void power_return(struct dice *dice);
// sqlite3_malloc fails when this, counted down from a positive number, reaches 0.
extern long malloc_countdown;

// ---- Scenarios ----

struct scenario {
  const char *name;
  void (*run)(struct dice *dice);
};
extern const struct scenario workload_scenarios[], damage_scenarios[], fault_scenarios[], process_scenarios[],
    format_scenarios[], direct_scenarios[], edge_scenarios[], secret_scenarios[], attack_scenarios[], replay_scenarios[],
    plain_sqlite_scenarios[], old_format_scenarios[], cipher_scenarios[], surroundings_scenarios[], leftover_scenarios[], length_scenarios[], dozing_scenarios[], dozing_crowd_scenarios[],
    dozing_wipe_scenarios[];

#endif
