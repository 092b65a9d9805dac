#include "support.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "sealed_scenarios.h"

const uint8_t test_key[SEALED_VFS_KEY_BYTES] = "an example of a key of 32 bytes";

static jmp_buf on_failure;
static char failure[4096];
static char notes[1024];
static char folder[512];
static pid_t scenario_process;
static sqlite3 *opened[64];
long malloc_countdown;

#ifdef SEALED_WRAPPED_MEMORY
void __gcov_dump(void);
#endif

void end_with_parent(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != scenario_process) { leave(0); }
}

void leave(int code) {
#ifdef SEALED_WRAPPED_MEMORY
  __gcov_dump();  // the coverage build
#endif
  _exit(code);
}

void fail(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int used = snprintf(failure, sizeof failure, "%s:%d: ", strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file, line);
  vsnprintf(failure + used, sizeof failure - (size_t)used, format, arguments);
  va_end(arguments);
  if (getpid() != scenario_process) {
    fprintf(stderr, "%s\n", failure);
    leave(99);
  }
  longjmp(on_failure, 1);
}

bool holds(void (*body)(void *context), void *context) {
  jmp_buf outer;
  memcpy(outer, on_failure, sizeof outer);
  volatile bool held = false;
  if (setjmp(on_failure) == 0) {
    body(context);
    held = true;
  }
  memcpy(on_failure, outer, sizeof outer);
  return held;
}

const char *failed_check(void) { return failure; }

void note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t used = strlen(notes);
  vsnprintf(notes + used, sizeof notes - used, format, arguments);
  va_end(arguments);
}

uint64_t roll(struct dice *dice) {
  uint64_t z = (dice->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t below(struct dice *dice, uint64_t limit) { return roll(dice) % limit; }

bool chance(struct dice *dice, unsigned percent) { return below(dice, 100) < percent; }

void power_return(struct dice *dice) { faults_return_power(&dice->state); }

// ---- Files ----

// Names live until the scenario ends.
struct name {
  struct name *next;
  char text[];
};
static struct name *names;

static void forget_names(void) {
  while (names != NULL) {
    struct name *next = names->next;
    free(names);
    names = next;
  }
}

const char *with_suffix(const char *path, const char *suffix) {
  size_t length = strlen(path) + strlen(suffix) + 1;
  struct name *name = malloc(sizeof *name + length);
  CHECK(name != NULL, "no memory");
  snprintf(name->text, length, "%s%s", path, suffix);
  name->next = names;
  names = name;
  return name->text;
}

const char *path_of(const char *name) {
  char base[600];
  snprintf(base, sizeof base, "%s/", folder);
  return with_suffix(base, name);
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

long file_size(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

uint8_t *file_load(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL, "cannot read %s", path);
  long size = file_size(path);
  uint8_t *bytes = malloc((size_t)size + 1);
  CHECK(bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size, "cannot read %s", path);
  fclose(file);
  *length = (size_t)size;
  return bytes;
}

void file_store(const char *path, const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, length, file) == length, "cannot write %s", path);
  fclose(file);
}

void file_copy(const char *from, const char *to) {
  size_t length;
  uint8_t *bytes = file_load(from, &length);
  file_store(to, bytes, length);
  free(bytes);
}

void file_poke(const char *path, long offset, const void *bytes, size_t length) {
  pid_t child = fork();
  if (child == 0) {
    FILE *file = fopen(path, "r+b");
    bool done = file != NULL && fseek(file, offset, SEEK_SET) == 0 && fwrite(bytes, 1, length, file) == length;
    leave(done && fclose(file) == 0 ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "cannot write %s", path);
}

bool file_contains(const char *path, const char *text) {
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  bool found = memmem(bytes, length, text, strlen(text)) != NULL;
  free(bytes);
  return found;
}

static bool is_aegis(const char *path) {
  sealed_vfs_cipher cipher;
  CHECK_EQUAL(sealed_vfs_read_cipher(path, &cipher), SQLITE_OK);
  return cipher == SEALED_VFS_AEGIS_256;
}

size_t log_start(const char *path) { return is_aegis(path) ? LONGEST_LOG_START : LONGEST_LOG_START - SEALED_VFS_SALT_BYTES; }

size_t salt_start(const char *path) {
  if (is_aegis(path)) { return 24; }
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  size_t page_size = bytes[16] == 0 && bytes[17] == 1 ? 65536 : (size_t)bytes[16] << 8 | bytes[17];
  free(bytes);
  return page_size - SEALED_VFS_RESERVED_BYTES + 8;
}

void database_remove(const char *path) {
  unlink(path);
  unlink(with_suffix(path, "-wal"));
  unlink(with_suffix(path, "-shm"));
  unlink(with_suffix(path, "-journal"));
}

static void remove_folder(void) {
  DIR *directory = opendir(folder);
  if (directory == NULL) { return; }
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (entry->d_name[0] != '.') { unlink(path_of(entry->d_name)); }
  }
  closedir(directory);
  rmdir(folder);
}

// ---- Databases ----

void use_key(const char *path) { CHECK_EQUAL(sealed_vfs_set_key(path, test_key, SEALED_VFS_KEEP_KEY), SQLITE_OK); }

sqlite3 *database_open(const char *path, const char *vfs) {
  sqlite3 *database = NULL;
  int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, vfs);
  if (code != SQLITE_OK) { sqlite3_close(database); }
  CHECK(code == SQLITE_OK, "open %s: %d, %s", path, code, sealed_vfs_kind_name(last_report().kind));
  for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
    if (opened[i] == NULL) {
      opened[i] = database;
      break;
    }
  }
  return database;
}

void database_close(sqlite3 *database) {
  for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
    if (opened[i] == database) { opened[i] = NULL; }
  }
  CHECK_EQUAL(sqlite3_close(database), SQLITE_OK);
}

void close_databases(void) {
  for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
    if (opened[i] != NULL) { sqlite3_close_v2(opened[i]); }
    opened[i] = NULL;
  }
}

int try_sql(sqlite3 *database, const char *sql) {
  sqlite3_exec(database, sql, NULL, NULL, NULL);
  return sqlite3_extended_errcode(database);
}

void run_sql(sqlite3 *database, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  int code = sqlite3_exec(database, sql, NULL, NULL, NULL);
  CHECK(code == SQLITE_OK, "%.200s: %d %s (%s)", sql, sqlite3_extended_errcode(database), sqlite3_errmsg(database),
        describe(last_report()));
  sqlite3_free(sql);
}

long long ask(sqlite3 *database, const char *sql) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) { code = sqlite3_step(statement); }
  long long result = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  CHECK(code == SQLITE_ROW, "%s: %d %s", sql, code, sqlite3_errmsg(database));
  return result;
}

struct text {
  char *bytes;
  size_t length, room;
};

static void append(struct text *text, const void *bytes, size_t length) {
  if (text->length + length + 1 > text->room) {
    text->room = (text->length + length + 1) * 2;
    text->bytes = realloc(text->bytes, text->room);
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = 0;
}

// Without zero bytes, so that dumps are strings.
static void append_value(struct text *text, const uint8_t *bytes, size_t length) {
  while (length > 0) {
    const uint8_t *zero = memchr(bytes, 0, length);
    size_t run = zero == NULL ? length : (size_t)(zero - bytes);
    if (run > 0) { append(text, bytes, run); }
    bytes += run;
    length -= run;
    size_t zeros = 0;
    while (zeros < length && bytes[zeros] == 0) { zeros++; }
    char mark[32];
    if (zeros > 0) { append(text, mark, (size_t)snprintf(mark, sizeof mark, "<%zu zeros>", zeros)); }
    bytes += zeros;
    length -= zeros;
  }
}

static int append_rows(sqlite3 *database, const char *sql, struct text *text) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
  while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      int type = sqlite3_column_type(statement, i);
      const void *bytes = sqlite3_column_blob(statement, i);
      int length = sqlite3_column_bytes(statement, i);
      char head[32];
      append(text, head, (size_t)snprintf(head, sizeof head, "%d:%d:", type, length));
      append_value(text, bytes, (size_t)length);
    }
    append(text, "\n", 1);
    code = SQLITE_OK;
  }
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

char *database_dump(sqlite3 *database, int *code) {
  struct text text = {0};
  append(&text, "", 0);
  *code = append_rows(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid", &text);
  sqlite3_stmt *tables = NULL;
  if (*code == SQLITE_OK) {
    *code = sqlite3_prepare_v2(database, "SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name", -1, &tables, NULL);
  }
  while (*code == SQLITE_OK && (*code = sqlite3_step(tables)) == SQLITE_ROW) {
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", sqlite3_column_text(tables, 0));
    *code = append_rows(database, sql, &text);
    sqlite3_free(sql);
  }
  if (*code != SQLITE_OK && *code != SQLITE_DONE && *code == (sqlite3_errcode(database) & 0xff)) {
    *code = sqlite3_extended_errcode(database);
  }
  sqlite3_finalize(tables);
  if (*code == SQLITE_DONE) { *code = SQLITE_OK; }
  if (*code == SQLITE_OK) { return text.bytes; }
  free(text.bytes);
  return NULL;
}

uint64_t query_hash(sqlite3 *database, const char *sql, int *code) {
  struct text text = {0};
  *code = append_rows(database, sql, &text);
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < text.length; i++) { hash = (hash ^ (uint8_t)text.bytes[i]) * 0x100000001b3u; }
  free(text.bytes);
  return hash;
}

int read_every_page(const char *path) {
  sqlite3 *from = NULL, *to = NULL;
  sealed_vfs_clear_report();
  int code = sqlite3_open_v2(path, &from, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
  if (code == SQLITE_OK) {
    sqlite3_open_v2(":memory:", &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix");
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    code = sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
    sqlite3_close(to);
  }
  sqlite3_close(from);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

void expect_sound(sqlite3 *database) {
  sqlite3_stmt *statement = NULL;
  int prepared = sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, NULL);
  CHECK(prepared == SQLITE_OK, "integrity_check: %d, %s", sqlite3_extended_errcode(database), describe(last_report()));
  int code = sqlite3_step(statement);
  char answer[200];
  snprintf(answer, sizeof answer, "%d: %s", code, code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : sqlite3_errmsg(database));
  sqlite3_finalize(statement);
  CHECK(strcmp(answer, "100: ok") == 0, "integrity_check: %s; %s", answer, describe(last_report()));
}

sealed_vfs_report last_report(void) {
  sealed_vfs_report result;
  sealed_vfs_last_report(&result);
  return result;
}

const char *describe(sealed_vfs_report report) {
  static char text[200];
  snprintf(text, sizeof text, "last finding: %s, file %d, page %llu, frame %llu, offset %lld", sealed_vfs_kind_name(report.kind),
           (int)report.file, (unsigned long long)report.page, (unsigned long long)report.frame, (long long)report.offset);
  return text;
}

// ---- Memory that runs out on demand ----

static sqlite3_mem_methods real_memory;

static bool memory_runs_out(void) { return malloc_countdown > 0 && --malloc_countdown == 0; }
static void *failing_malloc(int bytes) { return memory_runs_out() ? NULL : real_memory.xMalloc(bytes); }
static void *failing_realloc(void *old, int bytes) { return memory_runs_out() ? NULL : real_memory.xRealloc(old, bytes); }

sealed_vfs_cipher test_cipher = SEALED_VFS_FASTEST;

static void begin_once(void) {
  static bool done;
  if (done) { return; }
  done = true;
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
  sqlite3_mem_methods failing = real_memory;
  failing.xMalloc = failing_malloc;
  failing.xRealloc = failing_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
  CHECK_EQUAL(sealed_vfs_register(NULL, NULL), SQLITE_OK);
  CHECK_EQUAL(faulty_vfs_register(false), SQLITE_OK);
  CHECK_EQUAL(sealed_vfs_register("sealed-faulty", "faulty"), SQLITE_OK);
  const char *cipher = getenv("SEALED_CIPHER");
  if (cipher != NULL && strcmp(cipher, "xchacha") == 0) { test_cipher = SEALED_VFS_XCHACHA20_POLY1305; }
  if (cipher != NULL && strcmp(cipher, "aegis") == 0) { test_cipher = SEALED_VFS_AEGIS_256; }
}

// ---- Scenarios ----

static const struct scenario *scenario_at(size_t index) {
  // Secrets first: they search all memory that earlier scenarios have used.
  const struct scenario *lists[] = {
      secret_scenarios, workload_scenarios, damage_scenarios, fault_scenarios, process_scenarios, format_scenarios,
      direct_scenarios, edge_scenarios, attack_scenarios, replay_scenarios, plain_sqlite_scenarios, old_format_scenarios,
      cipher_scenarios,
      surroundings_scenarios, leftover_scenarios, length_scenarios, dozing_scenarios, dozing_crowd_scenarios,
      dozing_wipe_scenarios,
  };
  for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
    for (const struct scenario *scenario = lists[list]; scenario->name != NULL; scenario++) {
      if (index-- == 0) { return scenario; }
    }
  }
  return NULL;
}

const char *sealed_scenario_name(size_t index) {
  const struct scenario *scenario = scenario_at(index);
  return scenario == NULL ? NULL : scenario->name;
}

int sealed_scenario_run(const char *name, uint64_t seed, const char *directory, char *message, size_t length) {
  const struct scenario *scenario = NULL;
  for (size_t i = 0; (scenario = scenario_at(i)) != NULL && strcmp(scenario->name, name) != 0; i++) {}
  if (scenario == NULL) {
    snprintf(message, length, "there is no scenario %s", name);
    return 1;
  }
  static int run_number;
  scenario_process = getpid();
  snprintf(folder, sizeof folder, "%s/sealed-%d-%d", directory, (int)scenario_process, ++run_number);
  notes[0] = 0;
  struct dice dice = {.state = seed};
  volatile bool passed = false;
  if (setjmp(on_failure) == 0) {
    begin_once();
    CHECK(mkdir(folder, 0700) == 0, "cannot make %s", folder);
    faults_reset();
    sealed_vfs_clear_report();
    CHECK(sealed_vfs_prefer_cipher(test_cipher) == SQLITE_OK, "libsodium does not have cipher %d", (int)test_cipher);
    scenario->run(&dice);
    passed = true;
  }
  malloc_countdown = 0;
  faults_reset();
  close_databases();
  sealed_vfs_observe(NULL, NULL);
  if (passed) { remove_folder(); }
  forget_names();
  if (passed) {
    snprintf(message, length, "%s: seed %llu%s%s", name, (unsigned long long)seed, notes[0] != 0 ? ", " : "", notes);
    return 0;
  }
  snprintf(message, length, "%s (seed %llu, files in %s): %s", name, (unsigned long long)seed, folder, failure);
  return 1;
}

#ifdef SEALED_WRAPPED_MEMORY
// Built with -Wl,--wrap=calloc,--wrap=sodium_malloc: these fail the way SQLite's allocations do.
long wrapped_countdown;
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__real_sodium_malloc(size_t bytes);
void *__wrap_sodium_malloc(size_t bytes);
static bool wrapped_runs_out(void) { return wrapped_countdown > 0 && --wrapped_countdown == 0; }
void *__wrap_calloc(size_t count, size_t bytes) { return wrapped_runs_out() ? NULL : __real_calloc(count, bytes); }
void *__wrap_sodium_malloc(size_t bytes) { return wrapped_runs_out() ? NULL : __real_sodium_malloc(bytes); }
#endif
