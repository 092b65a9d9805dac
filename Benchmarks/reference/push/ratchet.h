/* The receiving half of the Double Ratchet: the next message of the current chain. */
#ifndef PUSH_RATCHET_H
#define PUSH_RATCHET_H

#include "common.h"

enum { RATCHET_CORE_BYTES = 239, RATCHET_OVERHEAD = 57, ASSOCIATED_BYTES = 128 };

/* Opens the message, and advances the stored state. Refuses messages that are out of order or under a new ratchet key.
 * */
size_t open_ratchet(uint8_t *core, size_t core_length, const uint8_t associated[ASSOCIATED_BYTES],
                    const uint8_t *message, size_t length, uint8_t *plaintext);

#endif
