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
