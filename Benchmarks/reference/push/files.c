#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void join(char *path, size_t room, const char *prefix, const char *suffix) {
  int length = snprintf(path, room, "%s%s", prefix, suffix);
  if (length < 0 || (size_t)length >= room) fail("a path is too long");
}

/* The text of a small file, without its remainder. */
static size_t read_small(const char *path, char *text, size_t room) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, room - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  return length > 0 ? (size_t)length : 0;
}

/* Field 22 of /proc/self/stat, counted from the end of the name, which may contain anything. */
static long long start_time(void) {
  char text[1024];
  read_small("/proc/self/stat", text, sizeof text);
  char *at = strrchr(text, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? atoll(at + 1) : 0;
}

void find_place(struct place *place, const char *prefix) {
  char named[4096];
  join(named, sizeof named, prefix, "_chat.db");
  char *resolved = realpath(named, place->store);
  size_t length = resolved ? strlen(resolved) : 0;
  if (length < 8 || strcmp(resolved + length - 8, "_chat.db") != 0) refuse("no store of this name");
  memcpy(place->prefix, place->store, length - 8);
  place->prefix[length - 8] = '\0';

  if (read_small("/proc/sys/kernel/random/boot_id", place->boot, sizeof place->boot) != NAME_BYTES)
    fail("the boot has no name");
  uint8_t nonce[8];
  char hexadecimal[2 * sizeof nonce + 1];
  randombytes_buf(nonce, sizeof nonce);
  sodium_bin2hex(hexadecimal, sizeof hexadecimal, nonce, sizeof nonce);
  snprintf(place->instance, sizeof place->instance, "%s:%d:%lld:%s", place->boot, (int)getpid(), start_time(),
           hexadecimal);
}

static int open_lock_file(const char *path, int flags) {
  return open(path, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void look_for_app(const struct place *place) {
  char path[4200], text[512];
  join(path, sizeof path, place->prefix, "_app.phase");
  int file = open_lock_file(path, O_RDONLY);
  if (file < 0) return;
  int is_free = flock(file, LOCK_SH | LOCK_NB) == 0;
  if (is_free) flock(file, LOCK_UN);
  ssize_t length = pread(file, text, sizeof text - 1, 0);
  close(file);
  if (!is_free) refuse("the app is at work");
  if (length >= 7 && memcmp(text, "stopped", 7) == 0) refuse("the chat is stopped");
}

static void publish(const struct place *place, int file, const char *phase) {
  char line[256];
  int length = snprintf(line, sizeof line, "%s %s\n", phase, place->instance);
  if (pwrite(file, line, (size_t)length, 0) != length || ftruncate(file, length) != 0)
    fail("the phase cannot be written");
}

int hold_phase(const struct place *place) {
  char path[4200];
  join(path, sizeof path, place->prefix, "_extension.phase");
  int file = open_lock_file(path, O_RDWR | O_CREAT);
  if (file < 0 || flock(file, LOCK_SH | LOCK_NB) != 0) refuse("the phase file is locked");
  publish(place, file, "active");
  return file;
}

void release_phase(const struct place *place, int file) {
  /* The last process of the role reports that none is at work. */
  if (flock(file, LOCK_EX | LOCK_NB) == 0) publish(place, file, "suspended");
  flock(file, LOCK_UN);
  close(file);
}

int lock_opening(const struct place *place) {
  char path[4200];
  join(path, sizeof path, place->store, "-lock");
  int file = open_lock_file(path, O_RDONLY | O_CREAT);
  if (file < 0 || flock(file, LOCK_SH | LOCK_NB) != 0) refuse("the store is being replaced");
  struct stat held, there;
  if (fstat(file, &held) != 0 || stat(path, &there) != 0 || held.st_ino != there.st_ino)
    refuse("the opening lock was deleted");
  join(path, sizeof path, place->store, "-rekey");
  if (access(path, F_OK) == 0) refuse("a copy of the store was left behind");
  return file;
}

int open_turn(const char *database) {
  char path[4200];
  join(path, sizeof path, database, "-turn");
  int file = open_lock_file(path, O_RDWR | O_CREAT);
  if (file < 0) fail("the writers' turn cannot be opened");
  return file;
}

void take_turn(int file) {
  /* A fair order is worth waiting 100 ms for; SQLite's own lock decides afterwards. */
  for (int attempt = 0; attempt < 200 && flock(file, LOCK_EX | LOCK_NB) != 0; attempt++)
    nanosleep(&(struct timespec){0, 500000}, NULL);
}

void leave_turn(int file) { flock(file, LOCK_UN); }

int is_beside(const struct place *place, const char *suffix) {
  char path[4200];
  join(path, sizeof path, place->prefix, suffix);
  return access(path, F_OK) == 0;
}
