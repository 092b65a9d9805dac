#include "switch.h"

#include "../../Include/nightporter_machines.h"

enum { MOVED, STAYED, IGNORED, REFUSED };

#define S(name) NP_TOKEN_STATUS_STATE_##name
#define E(name) NP_TOKEN_STATUS_EVENT_##name
#define F(name) (NP_TOKEN_STATUS_EFFECT_##name + 1ull)
#define FX1(a) F(a)
#define FX2(a, b) (F(a) | F(b) << 8)
#define FX3(a, b, c) (F(a) | F(b) << 8 | F(c) << 16)
#define FX4(a, b, c, d) (F(a) | F(b) << 8 | F(c) << 16 | F(d) << 24)
#define FX5(a, b, c, d, e) (FX4(a, b, c, d) | F(e) << 32)
#define FX6(a, b, c, d, e, f) (FX5(a, b, c, d, e) | F(f) << 40)
#define FX7(a, b, c, d, e, f, g) (FX6(a, b, c, d, e, f) | F(g) << 48)
#define FX8(a, b, c, d, e, f, g, h) (FX7(a, b, c, d, e, f, g) | F(h) << 56)

static struct token_step move(uint8_t state, uint64_t effects) {
  return (struct token_step){state, MOVED, 0, effects};
}

static struct token_step stay(uint8_t state, uint64_t effects) {
  return (struct token_step){state, STAYED, 0, effects};
}

static struct token_step ignore(uint8_t state, uint8_t reason) {
  return (struct token_step){state, IGNORED, reason, 0};
}

static struct token_step refuse(uint8_t state, uint8_t reason) {
  return (struct token_step){state, REFUSED, reason, 0};
}

static struct token_step begin_again(void) {
  return move(S(NEW), FX8(FORGET_RECORD, CREATE_RECORD, RESERVE_REGISTER, SAVE_STATUS, SAVE_REASON, ABANDON_REQUESTS,
                          REPORT_STATUS, SEND_REGISTER));
}

static struct token_step become_active(void) {
  return move(S(ACTIVE), FX7(SAVE_STATUS, QUEUE_INTERVAL, END_REPAIR, REPORT_STATUS, SEND_QUEUED, CREATE_SUBSCRIPTIONS,
                             SCHEDULE_CHECK));
}

static struct token_step become_unusable(uint8_t state) {
  return move(state, FX5(SAVE_STATUS, SAVE_REASON, REPORT_STATUS, SCHEDULE_REPAIR, SCHEDULE_CHECK));
}

static struct token_step refuse_registration(uint8_t state) {
  return stay(state, FX4(SAVE_REASON, REPORT_STATUS, REPORT_ERROR, SCHEDULE_CHECK));
}

/* The default answers of every state with a stored token. */
static struct token_step known(uint8_t state, uint8_t event) {
  switch (event) {
    case E(REGISTER_NEW_TOKEN): return stay(state, FX3(SAVE_DEVICE_TOKEN, RESERVE_REPLACE, SEND_REPLACE));
    case E(REPLACE_OK):
      return (struct token_step){S(REGISTERED), state == S(REGISTERED) ? STAYED : MOVED, 0,
                                 FX3(SAVE_STATUS, REPORT_STATUS, SCHEDULE_CHECK)};
    case E(REPLACE_FAILED_TEMPORARY):
    case E(CHECK_FAILED_TEMPORARY): return stay(state, FX1(SCHEDULE_RETRY));
    case E(REPLACE_FAILED_PERMANENT):
    case E(VERIFY_AUTH_ERROR):
    case E(CHECK_AUTH_ERROR): return begin_again();
    case E(CHECK_DUE): return stay(state, FX1(SEND_CHECK));
    case E(CHECK_EXPIRED): return become_unusable(S(EXPIRED));
    case E(CHECK_INVALID_NO_REASON): return become_unusable(S(INVALID));
    case E(CHECK_INVALID_BAD): return become_unusable(S(INVALID_BAD));
    case E(CHECK_INVALID_TOPIC): return become_unusable(S(INVALID_TOPIC));
    case E(CHECK_INVALID_EXPIRED): return become_unusable(S(INVALID_EXPIRED));
    case E(CHECK_INVALID_UNREGISTERED): return become_unusable(S(INVALID_UNREGISTERED));
    case E(MODE_INSTANT): return stay(state, FX1(SAVE_MODE));
    case E(MODE_PERIODIC): return stay(state, FX2(SAVE_MODE, TURN_OFF_SUBSCRIPTIONS));
    case E(DELETE):
      return move(S(NONE), FX6(QUEUE_DELETE, TURN_OFF_SUBSCRIPTIONS, FORGET_RECORD, SAVE_STATUS, ABANDON_REQUESTS,
                               SEND_QUEUED));
    default: return ignore(state, NP_TOKEN_STATUS_REASON_STALE);
  }
}

static struct token_step none(uint8_t event) {
  switch (event) {
    case E(REGISTER_NEW_TOKEN): return move(S(NEW), FX5(CREATE_RECORD, RESERVE_REGISTER, SAVE_STATUS, REPORT_STATUS,
                                                   SEND_REGISTER));
    case E(REGISTER_SAME_TOKEN):
    case E(PUSH_VERIFICATION):
    case E(MODE_INSTANT):
    case E(MODE_PERIODIC):
    case E(DELETE): return refuse(S(NONE), NP_TOKEN_STATUS_REASON_NO_TOKEN);
    default: return ignore(S(NONE), NP_TOKEN_STATUS_REASON_STALE);
  }
}

static struct token_step new_token(uint8_t event) {
  switch (event) {
    case E(REGISTER_NEW_TOKEN): return stay(S(NEW), FX3(SAVE_DEVICE_TOKEN, RESERVE_REGISTER, SEND_REGISTER));
    case E(REGISTER_SAME_TOKEN):
    case E(RETRY): return stay(S(NEW), FX2(RESERVE_REGISTER, SEND_REGISTER));
    case E(TAKE_UP): return stay(S(NEW), FX3(RESERVE_REGISTER, REPORT_STATUS, SEND_REGISTER));
    case E(REGISTER_OK): return move(S(REGISTERED), FX4(SAVE_SERVER_TOKEN, SAVE_STATUS, REPORT_STATUS, SCHEDULE_CHECK));
    case E(REGISTER_FAILED_TEMPORARY): return stay(S(NEW), FX1(SCHEDULE_RETRY));
    case E(REGISTER_FAILED_PERMANENT): return refuse_registration(S(NEW));
    case E(PUSH_VERIFICATION): return refuse(S(NEW), NP_TOKEN_STATUS_REASON_NO_SERVER_KEY);
    case E(MODE_INSTANT): return stay(S(NEW), FX1(SAVE_MODE));
    case E(MODE_PERIODIC): return stay(S(NEW), FX2(SAVE_MODE, TURN_OFF_SUBSCRIPTIONS));
    case E(DELETE):
      return move(S(NONE), FX4(TURN_OFF_SUBSCRIPTIONS, FORGET_RECORD, SAVE_STATUS, ABANDON_REQUESTS));
    default: return ignore(S(NEW), NP_TOKEN_STATUS_REASON_STALE);
  }
}

static struct token_step registered(uint8_t event) {
  switch (event) {
    case E(REGISTER_SAME_TOKEN):
    case E(RETRY): return stay(S(REGISTERED), FX2(RESERVE_REGISTER, SEND_REGISTER));
    case E(TAKE_UP): return stay(S(REGISTERED), FX2(REPORT_STATUS, SEND_CHECK));
    case E(REGISTER_OK): return stay(S(REGISTERED), FX1(SAVE_SERVER_TOKEN));
    case E(REGISTER_FAILED_TEMPORARY): return stay(S(REGISTERED), FX1(SCHEDULE_RETRY));
    case E(REGISTER_FAILED_PERMANENT): return refuse_registration(S(REGISTERED));
    case E(PUSH_VERIFICATION):
      return move(S(CONFIRMED), FX6(SAVE_CODE, SAVE_STATUS, QUEUE_INTERVAL, REPORT_STATUS, SEND_VERIFY, SEND_QUEUED));
    case E(VERIFY_OK):
    case E(CHECK_ACTIVE): return become_active();
    case E(CHECK_UNVERIFIED): return stay(S(REGISTERED), FX3(RESERVE_REGISTER, SEND_REGISTER, SCHEDULE_CHECK));
    default: return known(S(REGISTERED), event);
  }
}

static struct token_step confirmed(uint8_t event) {
  switch (event) {
    case E(REGISTER_SAME_TOKEN):
    case E(RETRY):
    case E(CHECK_UNVERIFIED): return stay(S(CONFIRMED), FX1(SEND_VERIFY));
    case E(TAKE_UP): return stay(S(CONFIRMED), FX2(REPORT_STATUS, SEND_VERIFY));
    case E(PUSH_VERIFICATION): return stay(S(CONFIRMED), FX4(SAVE_CODE, QUEUE_INTERVAL, SEND_VERIFY, SEND_QUEUED));
    case E(VERIFY_OK):
    case E(CHECK_ACTIVE): return become_active();
    case E(VERIFY_FAILED_TEMPORARY): return stay(S(CONFIRMED), FX1(SCHEDULE_RETRY));
    default: return known(S(CONFIRMED), event);
  }
}

static struct token_step active(uint8_t event) {
  switch (event) {
    case E(REGISTER_SAME_TOKEN):
    case E(RETRY): return stay(S(ACTIVE), FX1(SEND_CHECK));
    case E(TAKE_UP): return stay(S(ACTIVE), FX2(REPORT_STATUS, SEND_CHECK));
    case E(CHECK_ACTIVE): return stay(S(ACTIVE), FX4(QUEUE_INTERVAL, SEND_QUEUED, CREATE_SUBSCRIPTIONS, SCHEDULE_CHECK));
    case E(CHECK_UNVERIFIED): return move(S(REGISTERED), FX5(RESERVE_REGISTER, SAVE_STATUS, SAVE_REASON, REPORT_STATUS, SEND_REGISTER));
    case E(MODE_INSTANT): return stay(S(ACTIVE), FX2(SAVE_MODE, CREATE_SUBSCRIPTIONS));
    case E(PUSH_VERIFICATION):
    case E(VERIFY_OK): return ignore(S(ACTIVE), NP_TOKEN_STATUS_REASON_ALREADY_ACTIVE);
    default: return known(S(ACTIVE), event);
  }
}

/* `again`: the event that repeats the cause that made the token unusable. */
static struct token_step unusable(uint8_t state, uint8_t event, uint8_t again) {
  if (event == again) return stay(state, FX1(SCHEDULE_CHECK));
  switch (event) {
    case E(REGISTER_SAME_TOKEN):
    case E(RETRY): return stay(state, FX2(RESERVE_REGISTER, SEND_REGISTER));
    case E(TAKE_UP): return stay(state, FX3(RESERVE_REGISTER, REPORT_STATUS, SEND_REGISTER));
    case E(REGISTER_OK): return move(S(REGISTERED), FX4(SAVE_SERVER_TOKEN, SAVE_STATUS, REPORT_STATUS, SCHEDULE_CHECK));
    case E(REGISTER_FAILED_TEMPORARY): return stay(state, FX1(SCHEDULE_RETRY));
    case E(REGISTER_FAILED_PERMANENT): return refuse_registration(state);
    case E(CHECK_ACTIVE): return become_active();
    case E(CHECK_UNVERIFIED): return move(S(REGISTERED), FX3(SAVE_STATUS, REPORT_STATUS, SCHEDULE_CHECK));
    case E(PUSH_VERIFICATION): return refuse(state, NP_TOKEN_STATUS_REASON_TOKEN_UNUSABLE);
    default: return known(state, event);
  }
}

struct token_step token_step(uint8_t state, uint8_t event) {
  switch (state) {
    case S(NONE): return none(event);
    case S(NEW): return new_token(event);
    case S(REGISTERED): return registered(event);
    case S(CONFIRMED): return confirmed(event);
    case S(ACTIVE): return active(event);
    case S(EXPIRED): return unusable(state, event, E(CHECK_EXPIRED));
    case S(INVALID): return unusable(state, event, E(CHECK_INVALID_NO_REASON));
    case S(INVALID_BAD): return unusable(state, event, E(CHECK_INVALID_BAD));
    case S(INVALID_TOPIC): return unusable(state, event, E(CHECK_INVALID_TOPIC));
    case S(INVALID_EXPIRED): return unusable(state, event, E(CHECK_INVALID_EXPIRED));
    default: return unusable(state, event, E(CHECK_INVALID_UNREGISTERED));
  }
}

uint64_t token_walk(uint8_t *state, const uint8_t *events, size_t count) {
  uint64_t digest = 0;
  for (size_t index = 0; index < count; index++) {
    struct token_step step = token_step(*state, events[index]);
    *state = step.state;
    digest = digest * 31 + (step.effects ^ (uint64_t)step.kind << 56 ^ step.state);
  }
  return digest;
}
