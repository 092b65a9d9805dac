#include "relay.h"

#include <sodium.h>
#include <string.h>

enum {
  VERSION = 1,
  GET = 4,
  ACKNOWLEDGE_AND_GET = 18,
  MESSAGE = 4,
  ACKNOWLEDGED = 12,
  APPLICATION = 0x4e50524c,
  SCHEMA = 6,
  EXCHANGE_BYTES = 65536,
  LOG_PAGES = 1024,
  LONGEST_LOG = 2 << 20,
  SIGNATURE_AT = 2 + IDENTIFIER_BYTES,
  ENTITY_AT = SIGNATURE_AT + crypto_sign_BYTES + 1,
  COMMAND_AT = ENTITY_AT + IDENTIFIER_BYTES,
};

static const char domain[] = "nightporter relay request 1";
static const int64_t retention = 21LL * 86400000;

/* The signed bytes: the domain with its zero, the correlation, the entity, the command. */
static size_t signed_bytes(uint8_t *bytes, const uint8_t *request, size_t length) {
  uint8_t *at = bytes;
  memcpy(at, domain, sizeof domain);
  memcpy(at += sizeof domain, request + 1, IDENTIFIER_BYTES);
  memcpy(at += IDENTIFIER_BYTES, request + ENTITY_AT - 1, length - (ENTITY_AT - 1));
  return (size_t)(at - bytes) + length - (ENTITY_AT - 1);
}

/* MARK: The relay */

static int64_t number_of_mailbox(struct relay *relay, const uint8_t *entity, uint8_t key[crypto_sign_PUBLICKEYBYTES]) {
  bind(relay->mailbox, "b", entity, IDENTIFIER_BYTES);
  if (!next_row(relay->mailbox)) refuse("no mailbox of this name");
  int64_t number = sqlite3_column_int64(relay->mailbox, 0);
  take_bytes(relay->mailbox, 1, key, crypto_sign_PUBLICKEYBYTES);
  end(relay->mailbox);
  return number;
}

static size_t answer_get(struct relay *relay, int64_t mailbox, uint8_t *answer) {
  bind(relay->waiting, "ii", mailbox, relay->oldest_kept);
  if (!next_row(relay->waiting)) refuse("no message waits");
  uint8_t *at = answer;
  *at++ = MESSAGE;
  take_bytes(relay->waiting, 0, at, IDENTIFIER_BYTES);
  at += IDENTIFIER_BYTES;
  uint64_t time = (uint64_t)sqlite3_column_int64(relay->waiting, 1);
  for (int shift = 56; shift >= 0; shift -= 8) *at++ = (uint8_t)(time >> shift);
  *at++ = sqlite3_column_int(relay->waiting, 2) != 0;
  size_t length = (size_t)sqlite3_column_bytes(relay->waiting, 3);
  if (length > BODY_BYTES) refuse("a message that is too long");
  memcpy(at, sqlite3_column_blob(relay->waiting, 3), length);
  end(relay->waiting);
  return (size_t)(at - answer) + length;
}

static size_t answer_acknowledge(struct relay *relay, int64_t mailbox, const uint8_t *message, uint8_t *answer) {
  sqlite3_stmt *forget = prepare(&relay->file,
                                 "DELETE FROM notification WHERE message = (SELECT number FROM message "
                                 "WHERE mailbox = ?1 AND body IS NOT NULL AND identifier = ?2)");
  sqlite3_stmt *clear = prepare(
      &relay->file, "UPDATE message SET body = NULL WHERE mailbox = ?1 AND body IS NOT NULL AND identifier = ?2");
  bind(forget, "ib", mailbox, message, IDENTIFIER_BYTES);
  bind(clear, "ib", mailbox, message, IDENTIFIER_BYTES);
  begin(&relay->file);
  run(forget);
  if (run(clear) != 1) refuse("the message was acknowledged before");
  commit(&relay->file);
  bind(relay->waiting, "ii", mailbox, relay->oldest_kept);
  int is_last = !next_row(relay->waiting);
  end(relay->waiting);
  if (!is_last) refuse("more than one message waits");
  /* It was there, and nothing follows it. */
  answer[0] = ACKNOWLEDGED;
  answer[1] = 0;
  answer[2] = 0;
  return 3;
}

static size_t answer_request(struct relay *relay, const uint8_t *request, size_t length, uint8_t *answer) {
  if (length <= COMMAND_AT || request[0] != VERSION || request[SIGNATURE_AT - 1] != 1 || request[ENTITY_AT - 1] != 1)
    refuse("a request of another form");
  uint8_t key[crypto_sign_PUBLICKEYBYTES], bytes[256];
  int64_t mailbox = number_of_mailbox(relay, request + ENTITY_AT, key);
  size_t count = signed_bytes(bytes, request, length);
  if (crypto_sign_verify_detached(request + SIGNATURE_AT, bytes, count, key) != 0) refuse("a request of another key");
  answer[0] = VERSION;
  memcpy(answer + 1, request + 1, IDENTIFIER_BYTES);
  uint8_t *result = answer + 1 + IDENTIFIER_BYTES;
  size_t filled = request[COMMAND_AT] == GET ? answer_get(relay, mailbox, result)
                                             : answer_acknowledge(relay, mailbox, request + COMMAND_AT + 1, result);
  return 1 + IDENTIFIER_BYTES + filled;
}

void open_relay(struct relay *relay, const char *path, const char *boot) {
  open_database(&relay->file, path, APPLICATION, SCHEMA);
  /* An acknowledgement does not run a checkpoint. */
  sqlite3_wal_autocheckpoint(relay->file.handle, LOG_PAGES);
  relay->file.longest_log = LONGEST_LOG;
  relay->mailbox = prepare(&relay->file, "SELECT number, recipient_key FROM mailbox WHERE recipient = ?1");
  relay->waiting = prepare(&relay->file,
                           "SELECT identifier, sent_at, notify, body FROM message INDEXED BY message_waiting "
                           "WHERE mailbox = ?1 AND body IS NOT NULL AND stored_at >= ?2 ORDER BY number LIMIT 1");
  /* The file's age does not advance while the machine is off. */
  sqlite3_stmt *age = prepare(&relay->file, "SELECT boot, moment, age FROM age");
  int64_t now = 0;
  if (next_row(age)) {
    int64_t moment = sqlite3_column_int64(age, 1), passed = boot_nanoseconds() - moment;
    int is_now = strcmp((const char *)sqlite3_column_text(age, 0), boot) == 0 && passed > 0;
    now = sqlite3_column_int64(age, 2) + (is_now ? passed / 1000000 : 0);
  }
  end(age);
  relay->oldest_kept = now - retention;
}

void close_relay(struct relay *relay) { close_database(&relay->file); }

/* MARK: The recipient */

static size_t exchange(struct relay *relay, const struct recipient *recipient, const uint8_t *command, size_t length,
                       uint8_t *answer) {
  uint8_t request[COMMAND_AT + 64], bytes[256];
  request[0] = VERSION;
  randombytes_buf(request + 1, IDENTIFIER_BYTES);
  request[SIGNATURE_AT - 1] = 1;
  request[ENTITY_AT - 1] = 1;
  memcpy(request + ENTITY_AT, recipient->identifier, IDENTIFIER_BYTES);
  memcpy(request + COMMAND_AT, command, length);
  size_t count = signed_bytes(bytes, request, COMMAND_AT + length);
  crypto_sign_detached(request + SIGNATURE_AT, NULL, bytes, count, recipient->key);
  size_t answered = answer_request(relay, request, COMMAND_AT + length, answer);
  if (answer[0] != VERSION || memcmp(answer + 1, request + 1, IDENTIFIER_BYTES) != 0)
    refuse("an answer to another request");
  return answered;
}

static uint8_t answered[EXCHANGE_BYTES];

void get_message(struct relay *relay, const struct recipient *recipient, struct relay_message *message) {
  static const uint8_t command[] = {GET};
  const size_t head = 1 + IDENTIFIER_BYTES + 1 + IDENTIFIER_BYTES + 9;
  size_t length = exchange(relay, recipient, command, sizeof command, answered);
  const uint8_t *at = answered + 1 + IDENTIFIER_BYTES;
  if (length < head || *at++ != MESSAGE) refuse("another answer than a message");
  memcpy(message->identifier, at, IDENTIFIER_BYTES);
  at += IDENTIFIER_BYTES;
  message->timestamp = (int64_t)((uint64_t)read_big_endian(at) << 32 | read_big_endian(at + 4));
  message->length = length - head;
  memcpy(message->body, at + 9, message->length);
}

void acknowledge(struct relay *relay, const struct recipient *recipient, const uint8_t identifier[IDENTIFIER_BYTES]) {
  uint8_t command[1 + IDENTIFIER_BYTES] = {ACKNOWLEDGE_AND_GET};
  memcpy(command + 1, identifier, IDENTIFIER_BYTES);
  size_t length = exchange(relay, recipient, command, sizeof command, answered);
  const uint8_t *at = answered + 1 + IDENTIFIER_BYTES;
  if (length != 1 + IDENTIFIER_BYTES + 3 || at[0] != ACKNOWLEDGED || at[1] || at[2])
    refuse("another answer than that it was the last");
}
