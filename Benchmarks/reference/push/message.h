/* Reading JSON: the payload of a push, and a message of the chat protocol. */
#ifndef PUSH_MESSAGE_H
#define PUSH_MESSAGE_H

#include "common.h"

enum { NOTICE_CIPHERTEXT = 2704, SHARED_ID_BYTES = 64, TEXT_BYTES = 1024 };

struct notice {
  uint8_t nonce[IDENTIFIER_BYTES];
  uint8_t ciphertext[NOTICE_CIPHERTEXT];
};

/* A message push with tags, which are not needed where the store can be read; refuses every other kind. */
void read_payload(struct notice *notice, const char *text);

/* The content of a bundle with one entry. */
struct hint {
  uint8_t notifier[IDENTIFIER_BYTES];
  uint8_t nonce[IDENTIFIER_BYTES];
  uint8_t metadata[144];
};

/* Refuses a bundle of several mailboxes. */
void read_bundle(struct hint *hint, const uint8_t *text, size_t length);

struct message {
  uint8_t shared_id[SHARED_ID_BYTES];
  size_t shared_id_length;
  int64_t sent_at;
  char text[TEXT_BYTES];
};

/* A text with nothing that changes how it is shown: no markup, no mentions, no escapes, only ASCII characters. */
void read_message(struct message *message, const uint8_t *text, size_t length);

/* Whether a text needs no escapes in JSON and no cleaning before it is shown. */
int is_plain(const char *text, size_t length);

#endif
