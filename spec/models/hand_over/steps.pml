/* Steps shared by app and extension: a claim, a commit, an acknowledgement. Both declare the locals used here. */

#define settle(todo, effect) todo = todo & ~(1 << (effect))
#define isAsked(todo, effect) (((todo) >> (effect)) & 1)

/* Raises `event` and records the effects in `asks`; the process carries them out afterwards, as the engine does. */
inline stepOwnership() {
  d_step {
    ownership_step(ownership, event, answer);
    assert(answer != 0 && answer != REFUSED);
    event = 0; answer = 0
  }
}

/* ConnectionClaims.claim: carries out the machine's effects until it reports to the caller, which continues at `granted` or `denied`.
 * The claim waits for another process's transaction to end; if that process is frozen, the store is busy and the claim fails
 * (INC-18). */
inline claim(me, prevails, isSilent) {
  atomic { !frozen[me] -> event = ownership_on_want; stepOwnership() };
  do
  :: atomic {
       !frozen[me] && asks == 1 << ownership_do_readOwner ->
       asks = 0; unchanged[me] = true;
       event = (prevails -> ownership_on_ownerPrevails : ownership_on_ownerYields);
       stepOwnership()
     }
  :: atomic {
       !frozen[me] && asks == 1 << ownership_do_takeEpoch && (lock == NOBODY || (lock == 1 - me && frozen[1 - me])) ->
       asks = 0;
       if
       :: lock != NOBODY -> event = ownership_on_failed
       :: lock == NOBODY && unchanged[me] -> take(me, isSilent); event = ownership_on_granted
       :: lock == NOBODY && !unchanged[me] -> event = ownership_on_raced
       fi;
       stepOwnership()
     }
  :: atomic { !frozen[me] && asks == 1 << ownership_do_beginWork -> asks = 0; hasClaim = true; goto granted }
  :: atomic {
       !frozen[me] && (asks == 1 << ownership_do_skipWork || asks == 1 << ownership_do_refuseWork) ->
       asks = 0; unchanged[me] = false; goto denied
     }
  :: asks == 0 -> assert(false) /* no effect is pending, but the caller has no answer */
  od
}

/* Store.claim: stores the next epoch and this instance. */
inline take(me, isSilent) {
  d_step {
    /* An app that did not answer the last question may have thawed and claimed since; the fence stops its commit. */
    assert(me == APP || owner != APP || !steady || (isSilent));
    current[0] = false; current[1] = false;
    unchanged[0] = false; unchanged[1] = false;
    current[me] = true; owner = me;
    steady = (me == APP && atWork[APP] && onScreen)
  }
}

/* ConnectionClaims.end */
inline endClaim(me) {
  if
  :: ownership != ownership_state_free ->
     event = ownership_on_finished; stepOwnership();
     assert(asks == (1 << ownership_do_forget));
     asks = 0
  :: else
  fi;
  hasClaim = false; current[me] = false
}

/* MessageCommitter.commit: one transaction, fenced by the claim's epoch. Everything it depends on is read inside it: the epoch, this
 * message's ledger entry, the ratchet. The process may be frozen or killed at each of the three steps. */
inline begin(me) { lock = me; inside[me] = true }

inline lookInside(me) {
  d_step { !frozen[me] -> isStale = !current[me]; isRepeat = isStored(message); chain = ratchet }
}

inline write(me) {
  d_step {
    if
    :: isStale
    :: !isStale && isRepeat ->
       assert(owner == me);
       stepEntry(message, ledger_entry_on_repeat)
    :: !isStale && !isRepeat ->
       assert(owner == me);      /* a stale owner commits nothing (INC-04) */
       assert(me != APP || !draining); /* nor does an app that the user has left */
       assert(message < sent);
       assert(message == chain); /* else it could not be decrypted */
       assert(ratchet == chain); /* and no other process has taken this step */
       stored[message]++;
       assert(stored[message] == 1);
       stepEntry(message, ledger_entry_on_commit);
       if :: me == APP && onScreen -> stepEntry(message, ledger_entry_on_present); shown(me, message) :: else fi;
       ratchet = chain + 1
    fi;
    lock = NOBODY; inside[me] = false; chain = 0
  }
}

/* The relay drops the message, unless it already has. */
inline acknowledge() {
  atomic { if :: dropped == message -> assert(isStored(dropped)); dropped++ :: else fi }
}

/* An app that is not on screen, or that the user has left, shows nothing by itself. */
inline shown(me, which) { notified[which]++; assert(notified[which] == 1 && (me != APP || isSeen)) }

inline stepEntry(which, what) {
  event = what;
  ledger_entry_step(ledger[which], event, answer);
  assert(answer != 0 && answer != REFUSED);
  event = 0; answer = 0
}
