/* Two processes, one store, one relay, and a system that freezes and kills: does each message arrive exactly once?
 *
 * An app and an extension fetch from one mailbox. Claims (`ownership`) and ledger entries (`ledger_entry`) in both processes, the
 * app's fetches (`mailbox_fetch`) and the extension's questions (`presence`) are decided by the machines, included as compiled
 * from spec/machines. The processes carry out their effects; a refused event is an error, and so is a missing effect. The order in
 * which the extension fetches, commits and acknowledges is written by hand: in the engine, `push` and `mailbox_fetch` decide it.
 * Whatever the system does, at any time:
 *
 *   safety    A message is stored once, together with its ratchet step (INC-08, INC-10), and shown once (INC-34). The relay drops
 *             only stored messages. Only the connection's owner commits (INC-04). An app that the user has left commits nothing
 *             and shows nothing. A process that has suspended or answered its push holds no lock (INC-01, INC-48). A push that
 *             left nothing undone has stored everything sent before it (INC-38). An extension does not displace an app that has
 *             been on screen and not frozen since it claimed, unless the app answered its question late or never. Each of the
 *             app's requests to the relay has a deadline (INC-39). No deadlock (invalid end states).
 *   liveness  Eventually every message is stored, acknowledged, and seen by the user: notified, or reported by an app on screen.
 *             One exception: an extension killed between recording a message as shown and showing it loses that notification.
 *
 * With `-DBACKGROUND` the system also launches the app for background rounds, during which the extension may act.
 *
 * Safety and liveness are separate runs. A never claim ends the search where it is decided, so a run with a claim checks no
 * assertion beyond that point. `-DLIVENESS` adds the claim and lets the user stay in the app forever.
 *
 * HandOverModelTests runs both, and removes the rules one at a time by editing the text (HandOverMutant). One of the runs must
 * find each removal.
 *
 * Simplified: one connection, so "the next connection" of a push is the end of its fetching; one extension process; every message
 * can be decrypted; a transaction fails only if the store is busy; an acknowledgement's answer never has the next message; the
 * channel opens, and may lose the message about a commit, but no question, answer or request to yield; once it has, no extension
 * stays frozen for good. The processes test `frozen` in every step instead of in a `provided` clause: Spin's weak fairness
 * overlooks cycles in which such a clause stays false.
 */
#define PORTER_WORLD

#ifndef MESSAGES
#define MESSAGES 2
#endif
/* How many times the system kills or freezes a process, lets its time run out, or loses an answer from the relay. */
#ifndef TROUBLES
#define TROUBLES 1
#endif
/* How many times the user opens the app. */
#ifndef LAUNCHES
#define LAUNCHES 1
#endif

#define APP 0
#define EXTENSION 1
#define NOBODY 2
/* An app process that claimed the connection and has ended: no running process has that instance (INC-12). */
#define GONE 3
#define NONE 255

#define ownership_does(effect) asks = asks | (1 << (effect))
#define mailbox_fetch_does(effect) work = work | (1 << (effect))
#define presence_does(effect) questions = questions | (1 << (effect))
#define ledger_entry_does(effect) skip
#include "generated/ownership.pml"
#include "generated/mailbox_fetch.pml"
#include "generated/presence.pml"
#include "generated/ledger_entry.pml"

#include "hand_over/world.pml"
#include "hand_over/steps.pml"
#include "hand_over/app.pml"
#include "hand_over/extension.pml"

init {
  atomic { run app(); run extension(); run system(); run user(); run sender(); run server() }
}

#ifdef LIVENESS
ltl everythingArrives { <> arrived }
#endif
