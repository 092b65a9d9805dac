/* Both sides of an exchange with the embedded relay: requests are signed, decoded and verified, as over a network. */
#ifndef PUSH_RELAY_H
#define PUSH_RELAY_H

#include "database.h"

struct relay {
  struct database file;
  sqlite3_stmt *mailbox;
  sqlite3_stmt *waiting;
  /* Messages stored at a lower age of the file are past their retention. */
  int64_t oldest_kept;
};

struct relay_message {
  uint8_t identifier[IDENTIFIER_BYTES];
  int64_t timestamp;
  size_t length;
  uint8_t body[BODY_BYTES];
};

/* The recipient's end of a mailbox. */
struct recipient {
  uint8_t identifier[IDENTIFIER_BYTES];
  uint8_t key[SIGNING_KEY_BYTES];
};

void open_relay(struct relay *relay, const char *path, const char *boot);
void close_relay(struct relay *relay);

/* Asks for the oldest message; refuses if none is waiting. */
void get_message(struct relay *relay, const struct recipient *recipient, struct relay_message *message);
/* Has the message deleted; refuses if another one is waiting behind it. */
void acknowledge(struct relay *relay, const struct recipient *recipient, const uint8_t identifier[IDENTIFIER_BYTES]);

#endif
