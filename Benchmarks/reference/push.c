/*
 * The necessary cost of one message push: the extension's work on the extension's files, by hand.
 *
 *   push PREFIX   reads one push per line from standard input, and prints one answer per line
 *
 * It opens the store, looks for the other process, opens the push's box with the token's key, finds the connection,
 * claims it, fetches the message in a signed exchange with the embedded relay, commits message, ledger, ratchet and
 * counts in one durable transaction fenced by the claim, acknowledges with a second signed exchange, records what it
 * shows, and closes everything before it answers. It keeps the promises that the extension keeps, and takes turns with
 * it on one store.
 *
 * It refuses rare cases with exit status 3, and leaves them to the extension: see `refuse` in the sources. It knows the
 * schema that it was written for, and refuses any other.
 */
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "push/database.h"
#include "push/files.h"
#include "push/message.h"
#include "push/ratchet.h"
#include "push/relay.h"

/* Facts about the store; see Sources/PorterStore/Schema/Schema.swift. */
enum {
  APPLICATION = 0x4e507374,
  SCHEMA = 22,
  PATH_BYTES = 4096,
  SECRET_BYTES = 32,
  AGENT_BYTES = 24,
  STEPS = 16,
};

static const int64_t quiet_nanoseconds = 30LL * 1000000000;

struct connection {
  int64_t id, user, contact, epoch;
  struct recipient mailbox;
  uint8_t notifier_secret[SECRET_BYTES];
  char agent[BASE64_CHARACTERS(AGENT_BYTES)];
};

struct push {
  const struct place *place;
  int64_t began;
  char relay_path[PATH_BYTES];
  uint8_t push_secret[SECRET_BYTES];
  struct connection connection;
  struct relay_message received;
  struct message message;
  int64_t entry, badge;
  char name[256];
  int is_heard;
  /* As in the extension's answer: how long after its start the push entered each state. */
  struct {
    int64_t at;
    const char *event, *state;
  } steps[STEPS];
  int step_count;
};

static void note(struct push *push, const char *event, const char *state) {
  int index = push->step_count++;
  push->steps[index].at = (boot_nanoseconds() - push->began) / 1000;
  push->steps[index].event = event;
  push->steps[index].state = state;
}

/* MARK: The push's content */

/* Refuses a store with other work: something to be sent, a call, settings that change what is shown. */
static void read_token(struct push *push, struct database *store) {
  sqlite3_stmt *token = prepare(store,
                                "SELECT push_secret, (SELECT value FROM settings WHERE name = 'relay'),"
                                " EXISTS (SELECT 1 FROM settings WHERE name IN ('appLock', 'ntfPreviewMode',"
                                " 'ntfStrings')) OR EXISTS (SELECT 1 FROM outbox) OR EXISTS (SELECT 1 FROM calls)"
                                " FROM token");
  if (!next_row(token)) refuse("no token");
  take_bytes(token, 0, push->push_secret, SECRET_BYTES);
  const char *relay = (const char *)sqlite3_column_text(token, 1);
  if (!relay || strlen(relay) >= PATH_BYTES) refuse("no embedded relay");
  strcpy(push->relay_path, relay);
  if (sqlite3_column_int(token, 2)) refuse("other work, or other settings");
  end(token);
}

static void find_connection(struct push *push, struct database *store, const uint8_t notifier[IDENTIFIER_BYTES]) {
  struct connection *found = &push->connection;
  sqlite3_stmt *row = prepare(store,
                              "SELECT connection_id, user_id, contact_id, epoch, recipient_id, recipient_key,"
                              " notifier_secret, agent_id, status = 'ready' AND secured FROM connections"
                              " WHERE notifier_id = ?1");
  bind(row, "b", notifier, IDENTIFIER_BYTES);
  if (!next_row(row)) refuse("no connection for this push");
  found->id = sqlite3_column_int64(row, 0);
  found->user = sqlite3_column_int64(row, 1);
  found->contact = sqlite3_column_int64(row, 2);
  found->epoch = sqlite3_column_int64(row, 3);
  take_bytes(row, 4, found->mailbox.identifier, IDENTIFIER_BYTES);
  take_bytes(row, 5, found->mailbox.key, SIGNING_KEY_BYTES);
  take_bytes(row, 6, found->notifier_secret, SECRET_BYTES);
  uint8_t agent[AGENT_BYTES];
  take_bytes(row, 7, agent, AGENT_BYTES);
  encode_base64(found->agent, sizeof found->agent, agent, AGENT_BYTES);
  if (!sqlite3_column_int(row, 8) || found->contact == 0) refuse("a connection that is not ready");
  end(row);
}

/* From the push's box to the connection, and to the message that it names. */
static void decode(struct push *push, struct database *store, const struct notice *notice) {
  uint8_t bundle[NOTICE_CIPHERTEXT], metadata[144];
  size_t length;
  struct hint hint;
  if (crypto_box_open_easy_afternm(bundle, notice->ciphertext, NOTICE_CIPHERTEXT, notice->nonce,
                                   push->push_secret) != 0)
    refuse("a push that does not open");
  const uint8_t *text = unpadded(bundle, NOTICE_CIPHERTEXT - crypto_box_MACBYTES, &length);
  read_bundle(&hint, text, length);
  find_connection(push, store, hint.notifier);
  if (crypto_box_open_easy_afternm(metadata, hint.metadata, sizeof hint.metadata, hint.nonce,
                                   push->connection.notifier_secret) != 0)
    refuse("metadata that does not open");
  const uint8_t *named = unpadded(metadata, sizeof metadata - crypto_box_MACBYTES, &length);
  if (length < 1 + IDENTIFIER_BYTES + 8 || named[0] != IDENTIFIER_BYTES) refuse("metadata of another form");
}

/* MARK: The claim */

static void claim(struct push *push, struct database *store) {
  struct connection *connection = &push->connection;
  char owner[160];
  snprintf(owner, sizeof owner, "extension %s", push->place->instance);
  sqlite3_stmt *take =
      prepare(store, "UPDATE connections SET epoch = epoch + 1, owner = ?3 WHERE connection_id = ?1 AND epoch = ?2");
  bind(take, "iit", connection->id, connection->epoch, owner);
  begin(store);
  if (run(take) != 1) refuse("another process claimed the connection");
  commit(store);
  connection->epoch++;
}

/* MARK: The transaction */

/* Reads the ratchet under the fence, opens the message, and stores the ratchet's next state. */
static void open_message(struct push *push, struct database *store) {
  const struct connection *connection = &push->connection;
  sqlite3_stmt *fence =
      prepare(store, "SELECT epoch, ratchet, associated_data FROM connections WHERE connection_id = ?1");
  bind(fence, "i", connection->id);
  if (!next_row(fence) || sqlite3_column_int64(fence, 0) != connection->epoch) refuse("the claim is stale");
  uint8_t core[RATCHET_CORE_BYTES], associated[ASSOCIATED_BYTES];
  int core_length = sqlite3_column_bytes(fence, 1);
  if (core_length > RATCHET_CORE_BYTES) refuse("a ratchet of another version");
  take_bytes(fence, 1, core, (size_t)core_length);
  take_bytes(fence, 2, associated, sizeof associated);
  end(fence);

  static uint8_t plaintext[BODY_BYTES];
  const struct relay_message *received = &push->received;
  if (received->length < 1 || received->body[0] != 'M') refuse("something else than a message");
  size_t padded =
      open_ratchet(core, (size_t)core_length, associated, received->body + 1, received->length - 1, plaintext);
  size_t length;
  const uint8_t *text = unpadded(plaintext, padded, &length);
  read_message(&push->message, text, length);

  sqlite3_stmt *save = prepare(store, "UPDATE connections SET ratchet = ?2 WHERE connection_id = ?1");
  bind(save, "ib", connection->id, core, core_length);
  run(save);
  sodium_memzero(core, sizeof core);
}

/* Numbers are never reused: the highest deleted ones are in the table `store`. */
#define NEXT_ENTRY "(SELECT max(entries, coalesce((SELECT max(entry_id) FROM ledger), 0)) + 1 FROM store)"
/* No entry before that one waits to be shown, except late ones. */
#define FIRST_WAITING "(SELECT coalesce(waiting_from, entry_id) FROM ledger ORDER BY entry_id DESC LIMIT 1)"
#define WAITS "entry_id >= " FIRST_WAITING " AND state IN ('committed', 'upgraded') AND late IS NULL"

/* Data for the notification: the sender, and when the chat last made a sound. Refuses messages that are not shown. */
static void read_contact(struct push *push, struct database *store) {
  sqlite3_stmt *row = prepare(
      store,
      "SELECT contacts.display_name, sounded_at, sounded_boot = ?3, notifications = 'all' AND contacts.local_alias = ''"
      " AND coalesce(contacts.sends_receipts, users.sends_receipts) = 0 AND show_notifications AND view_hash IS NULL"
      " AND NOT EXISTS (SELECT 1 FROM removed_messages WHERE contact_id = ?1 AND shared_id = ?2)"
      " AND NOT EXISTS (SELECT 1 FROM items WHERE contact_id = ?1 AND shared_id = ?2)"
      " FROM contacts JOIN users ON users.user_id = contacts.user_id JOIN connections USING (contact_id)"
      " WHERE contact_id = ?1");
  bind(row, "ibt", push->connection.contact, push->message.shared_id, (int)push->message.shared_id_length,
       push->place->boot);
  if (!next_row(row) || !sqlite3_column_int(row, 3)) refuse("a contact with other settings, or a changed message");
  const char *name = (const char *)sqlite3_column_text(row, 0);
  if (!name || strlen(name) >= sizeof push->name || !is_plain(name, strlen(name))) refuse("a name with more in it");
  strcpy(push->name, name);
  push->is_heard =
      !sqlite3_column_int(row, 2) || boot_nanoseconds() - sqlite3_column_int64(row, 1) >= quiet_nanoseconds;
  end(row);
}

static void insert_item(struct push *push, struct database *store) {
  const struct connection *connection = &push->connection;
  const struct message *message = &push->message;
  const struct relay_message *received = &push->received;
  int64_t now = wall_milliseconds();
  int64_t at = message->sent_at > 0 && message->sent_at < received->timestamp ? message->sent_at : received->timestamp;
  char content[TEXT_BYTES + 32];
  snprintf(content, sizeof content, "{\"type\":\"text\",\"text\":\"%s\"}", message->text);
  sqlite3_stmt *item = prepare(store,
                               "INSERT INTO items (item_id, ledger_entry, contact_id, sent, content, status, shared_id,"
                               " item_at, created_at, updated_at)"
                               " VALUES ((SELECT max(items, coalesce((SELECT max(item_id) FROM items), 0)) + 1"
                               " FROM store), " NEXT_ENTRY ", ?1, 0, ?2, 'rcvNew', ?3, ?4, ?5, ?5)");
  bind(item, "itbii", connection->contact, content, message->shared_id, (int)message->shared_id_length, at, now);
  run(item);
  int64_t item_id = sqlite3_last_insert_rowid(store->handle);
  sqlite3_stmt *contact = prepare(store, "UPDATE connections SET unread = coalesce(unread, 0) + 1,"
                                         " chat_at = max(coalesce(chat_at, 0), ?2) WHERE contact_id = ?1");
  bind(contact, "ii", connection->contact, received->timestamp);
  run(contact);
  sqlite3_stmt *user = prepare(store, "UPDATE users SET unread = unread + 1 WHERE user_id = ?1");
  bind(user, "i", connection->user);
  run(user);
  /* The table refuses a message that already exists. */
  sqlite3_stmt *entry = prepare(store,
                                "INSERT INTO ledger (entry_id, waiting_from, connection_id, message_id, message_at, state,"
                                " kind, contact_id, item_id, created_at)"
                                " VALUES (" NEXT_ENTRY ", (SELECT min(entry_id) FROM ledger WHERE " WAITS "),"
                                " ?1, ?2, ?3, 'committed', 'message', ?4, ?5, ?6)");
  bind(entry, "ibiiii", connection->id, received->identifier, IDENTIFIER_BYTES, received->timestamp,
       connection->contact, item_id, now);
  run(entry);
  push->entry = sqlite3_last_insert_rowid(store->handle);
}

static void commit_message(struct push *push, struct database *store) {
  set_durable(store, 1);
  begin(store);
  open_message(push, store);
  read_contact(push, store);
  insert_item(push, store);
  commit(store);
  set_durable(store, 0);
}

/* MARK: The notification */

/* Records the message as shown before it is; refuses if anything else must be shown or removed with it. */
static void present(struct push *push, struct database *store) {
  if (is_beside(push->place, "_notice")) refuse("a notice is on screen");
  begin(store);
  sqlite3_stmt *due = prepare(
      store,
      "SELECT (SELECT coalesce(sum(unread), 0) FROM users WHERE show_notifications = 1),"
      " (SELECT state = 'committed' FROM ledger WHERE entry_id = ?1),"
      " EXISTS (SELECT 1 FROM ledger WHERE " WAITS " AND entry_id <> ?1)"
      " OR EXISTS (SELECT 1 FROM ledger WHERE state = 'outdated' OR late = 1)"
      " OR EXISTS (SELECT 1 FROM ledger WHERE removal_due = 1) OR EXISTS (SELECT 1 FROM removals)");
  bind(due, "i", push->entry);
  if (!next_row(due) || !sqlite3_column_int(due, 1)) refuse("another process shows the message");
  if (sqlite3_column_int(due, 2)) refuse("something else is to be shown");
  push->badge = sqlite3_column_int64(due, 0);
  end(due);
  sqlite3_stmt *shown = prepare(store, "UPDATE ledger SET state = 'presented' WHERE entry_id = ?1");
  bind(shown, "i", push->entry);
  run(shown);
  if (push->is_heard) {
    sqlite3_stmt *sound =
        prepare(store, "UPDATE connections SET sounded_at = ?2, sounded_boot = ?3 WHERE contact_id = ?1");
    bind(sound, "iit", push->connection.contact, boot_nanoseconds(), push->place->boot);
    run(sound);
  }
  commit(store);
}

static void answer(const struct push *push) {
  const struct connection *connection = &push->connection;
  char message[BASE64_CHARACTERS(IDENTIFIER_BYTES)];
  encode_base64(message, sizeof message, push->received.identifier, IDENTIFIER_BYTES);
  printf(
      "{\"outcome\":\"presented\",\"reason\":\"there is something to show\",\"work\":\"ran\",\"notifications\":[{"
      "\"identifier\":\"np:message:%s:%s\",\"title\":\"%s:\",\"titleKey\":\"%%@:\",\"titleArguments\":[\"%s\"],"
      "\"body\":\"%s\",\"categoryIdentifier\":\"NTF_CAT_MESSAGE_RECEIVED\",\"targetContentIdentifier\":\"@%lld\","
      "\"threadIdentifier\":\"%lld@%lld\",\"userInfo\":{\"userId\":%lld,\"agentConnId\":\"%s\"}%s,\"badge\":%lld}],"
      "\"withdrawals\":[],\"badge\":%lld,\"quiescent\":true,\"trace\":[",
      connection->agent, message, push->name, push->name, push->message.text, (long long)connection->contact,
      (long long)connection->user, (long long)connection->contact, (long long)connection->user, connection->agent,
      push->is_heard ? ",\"sound\":\"default\"" : "", (long long)push->badge, (long long)push->badge);
  for (int index = 0; index < push->step_count; index++)
    printf("%s{\"us\":%lld,\"machine\":\"push\",\"event\":\"%s\",\"state\":\"%s\"}", index ? "," : "",
           (long long)push->steps[index].at, push->steps[index].event, push->steps[index].state);
  printf("]}\n");
  fflush(stdout);
}

static void receive_push(struct push *push, const char *payload) {
  struct notice notice;
  struct database store;
  static struct relay relay;
  read_payload(&notice, payload);
  note(push, "payload.message", "deciding");
  look_for_app(push->place);
  note(push, "app.inactive", "openingStore");
  int phase = hold_phase(push->place);
  int opening = lock_opening(push->place);
  open_database(&store, push->place->store, APPLICATION, SCHEMA);
  close(opening);
  read_token(push, &store);
  note(push, "store.opened", "decoding");
  decode(push, &store, &notice);
  note(push, "decoded.message", "claiming");
  claim(push, &store);
  note(push, "claim.granted", "fetching");
  open_relay(&relay, push->relay_path, push->place->boot);
  get_message(&relay, &push->connection.mailbox, &push->received);
  note(push, "fetch.message", "committing");
  commit_message(push, &store);
  note(push, "commit.done", "acknowledging");
  acknowledge(&relay, &push->connection.mailbox, push->received.identifier);
  note(push, "claim.noneLeft", "presenting");
  present(push, &store);
  note(push, "composed.show", "releasing");
  close_database(&store);
  close_relay(&relay);
  release_phase(push->place, phase);
  note(push, "released.presented", "presented");
  answer(push);
}

int main(int count, char **words) {
  static struct place place;
  static struct push push;
  if (count != 2) fail("usage: push PREFIX");
  if (sodium_init() < 0) fail("libsodium does not start");
  /* As the extension's host does: the count takes a lock on each allocation. */
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  find_place(&place, words[1]);
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    push.place = &place;
    push.began = boot_nanoseconds();
    push.step_count = 0;
    receive_push(&push, line);
  }
  free(line);
  return 0;
}
