/* Scenarios about what contacts send: requests, calls, edits, deletions, and messages to several profiles. */
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"
#include "story.h"

/* Sets up a server, both apps, and alice's active token; the two are not contacts. */
static bool set_without_contact(struct device *device) {
  return story_start_server(device) && story_start_alice(device) && story_start_bob(device) &&
         story_register_token(device) && story_verify_token(device) && story_activate_token(device);
}

/* Alice's address, to be freed; NULL: the failure is recorded. */
static char *make_address(struct device *device) {
  struct json *made = stage_ask(device, &device->alice, "userContactLinkCreated", "/_address %lld",
                                device->alice.user_id);
  const char *link = json_string_at(made, "result.result.connLinkContact.connFullLink");
  char *copy = link == NULL ? NULL : copy_string(link);
  json_free(made);
  return copy;
}

bool scenario_contact_request(struct device *device) {
  char *link = set_without_contact(device) ? make_address(device) : NULL;
  bool good = link != NULL && stage_await_subscriptions(device) && stage_sleep(device) &&
              stage_say(device, &device->bob, "sentInvitation", "/connect %s", link) &&
              stage_push(device, "presented", NULL) &&
              stage_check(device, screen_find_category(&device->screen, "NTF_CAT_CONTACT_REQUEST") != NULL,
                          "the request is on the lock screen", "it is not") &&
              stage_choose(device, screen_find_category(&device->screen, "NTF_CAT_CONTACT_REQUEST"),
                           "NTF_ACT_ACCEPT_CONTACT", NULL, NULL) &&
              stage_wake(device) &&
              stage_check(device,
                          stage_hear(device, &device->bob, "contactConnected") &&
                              stage_hear(device, &device->alice, "contactConnected"),
                          "accepted from its notification, it is a contact on both sides", "it is not");
  free(link);
  return good && stage_shows_nothing(device);
}

#define AUDIO "{\"media\":\"audio\",\"capabilities\":{\"encryption\":true}}"

static bool ring(struct device *device) {
  return stage_set(device) && stage_sleep(device) &&
         stage_say(device, &device->bob, "cmdOk", "/_call invite @%lld " AUDIO, device->bob.contact_id) &&
         stage_push(device, "presented", NULL) &&
         stage_check(device, screen_find_category(&device->screen, "NTF_CAT_CALL_INVITATION") != NULL,
                     "the call rings on the lock screen", "it does not");
}

bool scenario_call_answered(struct device *device) {
  return ring(device) &&
         stage_choose(device, screen_find_category(&device->screen, "NTF_CAT_CALL_INVITATION"), "NTF_ACT_ACCEPT_CALL",
                      NULL, NULL) &&
         stage_wake(device) && stage_hear(device, &device->alice, "ntfResponse") &&
         stage_say(device, &device->alice, "cmdOk",
                   "/_call offer @%lld {\"callType\":" AUDIO
                   ",\"rtcSession\":{\"rtcSession\":\"o\",\"rtcIceCandidates\":\"c\"}}",
                   device->alice.contact_id) &&
         stage_check(device, stage_hear(device, &device->bob, "callOffer"),
                     "accepted from its notification, the call continues in the app", "the caller gets no offer") &&
         stage_shows_nothing(device);
}

bool scenario_call_missed(struct device *device) {
  return ring(device) && stage_say(device, &device->bob, "cmdOk", "/_call end @%lld", device->bob.contact_id) &&
         stage_push(device, "presented", NULL) && stage_shows(device, "bob", "Missed call") &&
         stage_check(device, screen_find_category(&device->screen, "NTF_CAT_CALL_INVITATION") == NULL,
                     "the call that is over rings no more", "its notification is there") &&
         stage_write(device, "never mind") && stage_push_until(device, 2) && stage_shows(device, "bob", "never mind") &&
         stage_wake(device) && stage_has_once(device, "never mind");
}

/* The id of the last item bob sent. */
static long long last_item(struct device *device) {
  struct json *answer =
      stage_ask(device, &device->bob, "apiChat", "/_get chat @%lld count=1", device->bob.contact_id);
  long long item = json_integer_at(answer, "result.result.chat.chatItems.0.meta.itemId", 0);
  json_free(answer);
  return item;
}

bool scenario_edited_and_deleted(struct device *device) {
  if (!stage_set(device) || !stage_sleep(device) || !stage_write(device, "see you at sevn")) return false;
  long long item = last_item(device);
  bool good = stage_push_until(device, 1) && stage_shows(device, "bob", "see you at sevn") &&
              stage_say(device, &device->bob, "chatItemUpdated",
                        "/_update item @%lld %lld json {\"msgContent\":{\"type\":\"text\","
                        "\"text\":\"see you at seven\"},\"mentions\":{}}",
                        device->bob.contact_id, item) &&
              stage_write(device, "forget it") && stage_push_until(device, 2) &&
              stage_shows(device, "bob", "see you at seven") &&
              stage_check(device, device->screen.replaced >= 1, "the edit takes the notification's place",
                          "%u replaced", device->screen.replaced) &&
              stage_check(device, !screen_find(&device->screen, "bob", "see you at seven")->sound, "without a sound",
                          "with one");
  good = good && stage_say(device, &device->bob, "chatItemsDeleted", "/_delete item @%lld %lld broadcast",
                           device->bob.contact_id, item) &&
         stage_write(device, "sorry") && stage_push_until(device, 3) &&
         stage_check(device, screen_find(&device->screen, NULL, "see you") == NULL,
                     "what was deleted is taken off the screen", "it is there");
  return good && stage_wake(device) && stage_has_once(device, "sorry");
}

/* Adds another profile of alice's, connected to bob. `mode` is for its notifications. */
static bool add_profile(struct device *device, const char *name, long long *contact_of_bob) {
  struct json *user = stage_ask(device, &device->alice, "activeUser",
                                "/_create user {\"profile\":{\"displayName\":\"%s\",\"fullName\":\"\"}}", name);
  long long id = json_integer_at(user, "result.result.user.userId", 0);
  json_free(user);
  struct json *invitation = stage_ask(device, &device->alice, "invitation", "/_connect %lld", id);
  const char *link = json_string_at(invitation, "result.result.connLinkInvitation.connFullLink");
  bool good = link != NULL && stage_say(device, &device->bob, "sentConfirmation", "/connect %s", link);
  struct json *connected = good ? stage_await(device, &device->bob, "contactConnected") : NULL;
  *contact_of_bob = json_integer_at(connected, "result.result.contact.contactId", 0);
  good = connected != NULL && stage_hear(device, &device->alice, "contactConnected");
  json_free(connected);
  json_free(invitation);
  return good;
}

/* Whether the chat with bob has this text once in another profile of alice's: the `place`th created after her own. */
static bool profile_has_once(struct device *device, long long place, const char *text) {
  long long user = device->alice.user_id + place;
  if (!stage_say(device, &device->alice, "activeUser", "/_user %lld", user)) return false;
  struct json *chats = stage_ask(device, &device->alice, "apiChats", "/_get chats %lld", user);
  long long usual = device->alice.contact_id;
  device->alice.contact_id = json_integer_at(chats, "result.result.chats.0.chatInfo.contact.contactId", 0);
  json_free(chats);
  bool good = stage_has_once(device, text);
  device->alice.contact_id = usual;
  return good;
}

static bool write_to(struct device *device, long long contact, const char *text) {
  long long usual = device->bob.contact_id;
  device->bob.contact_id = contact;
  bool good = stage_write(device, text);
  device->bob.contact_id = usual;
  return good;
}

bool scenario_three_profiles(struct device *device) {
  long long at_work = 0;
  long long muted = 0;
  bool good = stage_set(device) && add_profile(device, "work", &at_work) && add_profile(device, "quiet", &muted) &&
              stage_say(device, &device->alice, "userPrivacy", "/_mute user %lld", device->alice.user_id + 2) &&
              stage_say(device, &device->alice, "activeUser", "/_user %lld", device->alice.user_id);
  return good && stage_sleep(device) && stage_write(device, "to alice") && write_to(device, at_work, "to work") &&
         write_to(device, muted, "to quiet") && stage_push_until(device, 2) && stage_shows(device, "bob", "to alice") &&
         stage_shows(device, NULL, "to work") &&
         stage_check(device, !screen_contains(&device->screen, "to quiet"), "a muted profile shows nothing",
                     "its message is on the screen") &&
         stage_badge(device, 2) && stage_wake(device) && stage_has_once(device, "to alice") &&
         profile_has_once(device, 1, "to work") && profile_has_once(device, 2, "to quiet");
}
