/* All that happened in a night, kept to be written as a page: events, steps of machines, and when processes ran. */
#ifndef PORTER_RECORD_H
#define PORTER_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

/* A process, from its start to its end. */
struct recorded_process {
  const char *actor; /* belongs to the caller, for as long as the record */
  pid_t pid;
  uint64_t started_at; /* microseconds, as now_microseconds() */
  uint64_t ended_at;   /* 0: it is running */
  unsigned locks;      /* what it was last seen to hold */
  unsigned open_files;
};

struct record {
  bool on; /* else nothing is kept */
  uint64_t started_at;
  struct text events; /* JSON objects, separated by commas */
  struct recorded_process *processes;
  size_t count;
};

/* Adds one JSON object. */
void record_event(struct record *record, const char *json);

void record_started(struct record *record, const char *actor, pid_t pid, uint64_t started_at);
/* From here on it holds nothing: the system has taken what it held, also if it was killed. */
void record_ended(struct record *record, pid_t pid);

/* The last process of this actor, if it is running; else 0. */
pid_t record_running(const struct record *record, const char *actor);

/* Adds what a running process holds of the store's files, if that has changed. */
void record_locks(struct record *record, pid_t pid, const char *store);

/* Whether a process is the first of its actor, in the order of their starts. */
bool record_is_first(const struct record *record, size_t process);

/* Adds the steps of machines in a log that was written with `--log`. A log that is missing has none. */
void record_steps(struct record *record, const char *actor, const char *log);

/* Writes the page; it needs no other file and no network. False with errno. */
bool record_write_page(const struct record *record, const char *path, const char *name, const char *sentence,
                       bool held);

void record_free(struct record *record);

#endif
