/* The small files beside the store: which process is at work, and whose turn it is. */
#ifndef PUSH_FILES_H
#define PUSH_FILES_H

#include "common.h"

struct place {
  /* With links resolved, as every process names the store's files. */
  char store[4096];
  char prefix[4096];
  /* `boot:process:started:nonce`. */
  char instance[128];
  char boot[NAME_BYTES + 1];
};

void find_place(struct place *place, const char *prefix);

/* Refuses while the app is at work, or after the user has stopped the chat. */
void look_for_app(const struct place *place);

/* Takes the extension's phase file, and records in it that this process is at work. */
int hold_phase(const struct place *place);
void release_phase(const struct place *place, int file);

/* Held while the store's file is opened. */
int lock_opening(const struct place *place);

/* A writer's turn: taken before a transaction begins, and left once it has begun. */
int open_turn(const char *database);
void take_turn(int file);
void leave_turn(int file);

/* Whether a file of this name, after the prefix, exists. */
int is_beside(const struct place *place, const char *suffix);

#endif
