/*
 * The machine token_status, written by hand as two nested switches: the reference for a compiled machine.
 */
#ifndef BENCHMARK_SWITCH_H
#define BENCHMARK_SWITCH_H

#include <stddef.h>
#include <stdint.h>

struct token_step {
  uint8_t state;
  uint8_t kind;     /* 0 moved, 1 stayed, 2 ignored, 3 refused */
  uint8_t reason;   /* for ignored and refused */
  uint64_t effects; /* up to eight, one byte each from the lowest: code + 1 */
};

/* The numbers of states, events, effects and reasons are those of nightporter_machines.h. */
struct token_step token_step(uint8_t state, uint8_t event);

/* Walks from `state` along `events`, and returns a digest of every answer; leaves the last state in `*state`. */
uint64_t token_walk(uint8_t *state, const uint8_t *events, size_t count);

#endif
