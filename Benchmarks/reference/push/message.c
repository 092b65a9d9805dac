#include "message.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

struct span {
  const char *start;
  const char *end;
};

static const char *skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
  return at;
}

/* The end of the value that begins here: a string, a bracketed value, or a word. */
static const char *skip_value(const char *at, const char *end) {
  int depth = 0;
  for (; at < end; at++) {
    if (*at == '"') {
      for (at++; at < end && *at != '"'; at++)
        if (*at == '\\') at++;
      if (at >= end) break;
      if (depth == 0) return at + 1;
    } else if (*at == '{' || *at == '[') {
      depth++;
    } else if (*at == '}' || *at == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (*at == ',' && depth == 0) {
      return at;
    }
  }
  refuse("JSON without an end");
}

static int is_string(struct span span, const char *text) {
  size_t length = strlen(text);
  return (size_t)(span.end - span.start) == length + 2 && *span.start == '"' &&
         memcmp(span.start + 1, text, length) == 0;
}

/* The member with this name, and the number of members. */
static int find_member(struct span object, const char *name, struct span *value) {
  const char *at = object.start;
  int count = 0, found = 0;
  if (at >= object.end || *at != '{') refuse("no object");
  for (at = skip_space(at + 1, object.end); at < object.end && *at == '"'; count++) {
    struct span key = {at, skip_value(at, object.end)};
    at = skip_space(key.end, object.end);
    if (at >= object.end || *at != ':') refuse("a member without a value");
    struct span member = {skip_space(at + 1, object.end), NULL};
    member.end = skip_value(member.start, object.end);
    if (is_string(key, name)) {
      *value = member;
      found = 1;
    }
    at = skip_space(member.end, object.end);
    if (at < object.end && *at == ',') at = skip_space(at + 1, object.end);
  }
  if (!found) refuse(name);
  return count;
}

static struct span member(struct span object, const char *name, int members) {
  struct span value;
  int count = find_member(object, name, &value);
  if (members != 0 && count != members) refuse("a message with something more");
  return value;
}

static struct span string_member(struct span object, const char *name, int members) {
  struct span value = member(object, name, members);
  if (*value.start != '"') refuse("no text");
  return (struct span){value.start + 1, value.end - 1};
}

static size_t length(struct span span) { return (size_t)(span.end - span.start); }

void read_payload(struct notice *notice, const char *text) {
  struct span whole = {text, text + strlen(text)};
  struct span data = member(whole, "notificationData", 0);
  struct span nonce = string_member(data, "nonce", 3), ciphertext = string_member(data, "message", 3);
  decode_base64(notice->nonce, sizeof notice->nonce, nonce.start, length(nonce));
  decode_base64(notice->ciphertext, sizeof notice->ciphertext, ciphertext.start, length(ciphertext));
}

void read_bundle(struct hint *hint, const uint8_t *text, size_t text_length) {
  const char *field = (const char *)text, *end = field + text_length;
  if (text_length == 0 || memchr(text, ';', text_length)) refuse("a bundle of several mailboxes");
  uint8_t *fields[] = {hint->notifier, NULL, hint->nonce, hint->metadata};
  size_t lengths[] = {sizeof hint->notifier, 0, sizeof hint->nonce, sizeof hint->metadata};
  for (int index = 0; index < 4; index++) {
    const char *next = memchr(field, ' ', (size_t)(end - field));
    if ((next == NULL) != (index == 3)) refuse("an entry of other fields");
    if (fields[index])
      decode_base64(fields[index], lengths[index], field, (size_t)((next ? next : end) - field));
    field = next ? next + 1 : end;
  }
}

static int64_t digits(const char *text, int count) {
  int64_t value = 0;
  for (int index = 0; index < count; index++) {
    if (text[index] < '0' || text[index] > '9') refuse("a time of another form");
    value = value * 10 + (text[index] - '0');
  }
  return value;
}

/* `2026-11-21T23:00:00.000Z`, in milliseconds. */
static int64_t read_time(struct span time) {
  if (length(time) != 24) refuse("a time of another form");
  struct tm parts = {
      .tm_year = (int)digits(time.start, 4) - 1900,
      .tm_mon = (int)digits(time.start + 5, 2) - 1,
      .tm_mday = (int)digits(time.start + 8, 2),
      .tm_hour = (int)digits(time.start + 11, 2),
      .tm_min = (int)digits(time.start + 14, 2),
      .tm_sec = (int)digits(time.start + 17, 2),
  };
  return (int64_t)timegm(&parts) * 1000 + digits(time.start + 20, 3);
}

int is_plain(const char *text, size_t count) {
  static const char others[] = " .,?-";
  for (size_t index = 0; index < count; index++) {
    char byte = text[index];
    int is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
    if (!is_letter && (byte == '\0' || !strchr(others, byte))) return 0;
  }
  return count > 0;
}

void read_message(struct message *message, const uint8_t *text, size_t text_length) {
  struct span whole = {(const char *)text, (const char *)text + text_length};
  if (!is_string(member(whole, "event", 3), "x.msg.new")) refuse("another kind of message");
  struct span shared = string_member(whole, "msgId", 3), parameters = member(whole, "params", 3);
  struct span content = member(parameters, "content", 2), sent_at = string_member(parameters, "sentAt", 2);
  if (!is_string(member(content, "type", 2), "text")) refuse("a message that is no text");
  struct span shown = string_member(content, "text", 2);
  if (length(shown) >= sizeof message->text || !is_plain(shown.start, length(shown))) refuse("a text with more in it");
  memcpy(message->text, shown.start, length(shown));
  message->text[length(shown)] = '\0';
  message->sent_at = read_time(sent_at);
  if (sodium_base642bin(message->shared_id, sizeof message->shared_id, shared.start, length(shared), NULL,
                        &message->shared_id_length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
    refuse("a message without a name");
}
