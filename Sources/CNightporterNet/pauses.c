/* 429 and 503: the relay asked for no requests for a while. */
#include <string.h>
#include <time.h>

#include "internal.h"

uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/*
 * The entity of a request, which the relay counts by: version (1), correlation (24), optional signature (64), optional
 * entity (24). NULL if it names none.
 */
static const uint8_t *entity_of(const uint8_t *request, size_t length) {
  size_t at = 1 + 24;
  if (length <= at || request[at] > 1) return NULL;
  at += request[at] == 1 ? 1 + 64 : 1;
  if (length < at + 1 + ENTITY_BYTES || request[at] != 1) return NULL;
  return request + at + 1;
}

void pauses_note(struct pauses *pauses, const struct response *response, const uint8_t *request, size_t length) {
  if ((response->status != 429 && response->status != 503) || response->retry_after == 0) return;
  uint64_t until = now_ms() + (uint64_t)response->retry_after * 1000;
  const uint8_t *entity = response->limits_mailbox && response->status == 429 ? entity_of(request, length) : NULL;
  if (entity == NULL) {
    /* If the request does not name the mailbox, the engine must respect its limit. */
    if (!response->limits_mailbox && until > pauses->until) pauses->until = until;
    return;
  }
  /* Its own place, or that of the pause that ends first. */
  size_t place = 0;
  for (size_t index = 0; index < PAUSED_MAILBOXES; index++) {
    if (memcmp(pauses->mailboxes[index].entity, entity, ENTITY_BYTES) == 0) {
      place = index;
      break;
    }
    if (pauses->mailboxes[index].until < pauses->mailboxes[place].until) place = index;
  }
  memcpy(pauses->mailboxes[place].entity, entity, ENTITY_BYTES);
  pauses->mailboxes[place].until = until;
}

bool pauses_hold(const struct pauses *pauses, const uint8_t *request, size_t length) {
  uint64_t now = now_ms();
  if (now < pauses->until) return true;
  const uint8_t *entity = entity_of(request, length);
  for (size_t index = 0; entity != NULL && index < PAUSED_MAILBOXES; index++)
    if (now < pauses->mailboxes[index].until && memcmp(pauses->mailboxes[index].entity, entity, ENTITY_BYTES) == 0)
      return true;
  return false;
}
