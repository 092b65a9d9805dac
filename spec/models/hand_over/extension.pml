/* The extension: one push after the other, as carried out by PushEffects, and the machine `presence`. */

inline stepPresence() {
  d_step {
    presence_step(presence, event, answer);
    assert(answer != 0 && answer != REFUSED);
    if :: isAsked(questions, presence_do_cancelPatience) -> hasPatience = false :: else fi;
    if :: isAsked(questions, presence_do_startPatience) -> hasPatience = true :: else fi;
    settle(questions, presence_do_startPatience);
    settle(questions, presence_do_cancelPatience);
    event = 0; answer = 0
  }
}

inline presentEntry(which) {
  if
  :: ledger[which] == ledger_entry_state_committed ->
     stepEntry(which, ledger_entry_on_present);
     content = content | (1 << which)
  :: else
  fi
}

inline notify(which) {
  if
  :: (content >> which) & 1 -> shown(EXTENSION, which)
  :: else
  fi
}

proctype extension() {
  byte ownership = ownership_initial;
  byte presence = presence_initial;
  short asks, questions;  /* pending effects: ownership's, presence's */
  byte event, answer, chain;
  byte message = NONE;
  byte promised;          /* number of messages sent when the push came; 0 once it left something undone (INC-19) */
  byte content;           /* the messages that the push shows, one bit each */
  bool hasClaim, isStale, isRepeat, hasPatience;

asleep:
  {
    atomic {
      !frozen[EXTENSION] ->
      assert(lock != EXTENSION && !inside[EXTENSION] && !hasPatience && asks == 0 && questions == 0);
      busy[EXTENSION] = false; yieldAsked = false; promised = 0; presence = presence_initial
    };
    if
    :: over -> goto ended
    :: atomic {
         pushDue && !over ->
         pushDue = false; busy[EXTENSION] = true; promised = sent;
         event = presence_on_question; stepPresence()
       }
    fi;

    do /* PeerLink.askPresence */
    :: atomic {
         !frozen[EXTENSION] && questions == 1 << presence_do_readLock ->
         questions = 0;
         event = (atWork[APP] -> presence_on_lockHeld : presence_on_lockFree);
         stepPresence();
         if
         :: questions == 1 << presence_do_sendAsk ->
            questions = 0;
            /* A process opens its end of the channel before taking its lock. */
            assert(listens)
         :: else
         fi
       }
    :: atomic {
         !frozen[EXTENSION] && questions == 0 && hasPatience ->
         if
         :: appAnswers -> event = presence_on_here; hasPush = told < ratchet
         :: else -> event = presence_on_patienceOver; hasPatience = false
         fi;
         stepPresence()
       }
    :: atomic {
         !frozen[EXTENSION] && questions == 1 << presence_do_reportAlive && onScreen ->
         questions = 0; promised = 0; goto answered
       }
#ifdef BACKGROUND
    :: atomic { !frozen[EXTENSION] && questions == 1 << presence_do_reportAlive && !onScreen -> questions = 0; break }
#endif
    :: atomic { !frozen[EXTENSION] && questions == 1 << presence_do_reportGone -> questions = 0; break }
    :: questions == 0 && !hasPatience -> assert(false)
    od;

    /* An answer that comes late counts for the claim (PeerLink.peerSpoke, hasPriority). */
    if
    :: atomic {
         !frozen[EXTENSION] && presence == presence_state_silent && appAnswers ->
         event = presence_on_here; hasPush = told < ratchet; stepPresence();
         assert(questions == (1 << presence_do_reportAlive)); /* no caller waits for it any more */
         questions = 0
       }
    :: !frozen[EXTENSION]
    fi;

    /* ConnectionClaims.claim, PeerLink.hasPriority */
    claim(EXTENSION, owner == APP && atWork[APP] && onScreen && presence != presence_state_silent, presence == presence_state_silent);

denied:
    atomic { !frozen[EXTENSION] -> promised = 0; goto present };

granted:
    if
    :: atomic { !frozen[EXTENSION] && dropped < sent -> message = dropped }
    :: atomic { !frozen[EXTENSION] && dropped == sent -> endClaim(EXTENSION); goto present }
    /* Time is up, or the relay does not answer. */
    :: atomic { !frozen[EXTENSION] && troubles < TROUBLES -> troubles++; promised = 0; endClaim(EXTENSION); goto present }
    /* An app that came to the foreground asks this process to yield (push: app.woke). */
    :: atomic { !frozen[EXTENSION] && yieldAsked -> yieldAsked = false; promised = 0; endClaim(EXTENSION); goto present }
    fi;

    atomic { !frozen[EXTENSION] && lock == NOBODY -> begin(EXTENSION) };
    lookInside(EXTENSION);
    atomic {
      !frozen[EXTENSION] ->
      write(EXTENSION);
      if
      :: isStale ->
         promised = 0;
         event = ownership_on_displaced; stepOwnership();
         assert(asks == ((1 << ownership_do_discardWork) | (1 << ownership_do_reload)));
         event = ownership_on_reloaded; stepOwnership();
         assert(isAsked(asks, ownership_do_forget));
         asks = 0; hasClaim = false; current[EXTENSION] = false; isStale = false; isRepeat = false; message = NONE;
         goto present
      :: else -> isStale = false; isRepeat = false
      fi
    };
    /* The message may be lost on its way. */
    atomic { !frozen[EXTENSION] -> if :: listens -> changed = true :: noteLoss fi };

    if
    :: atomic { !frozen[EXTENSION] -> acknowledge(); message = NONE; goto granted }
    :: atomic {
         !frozen[EXTENSION] && troubles < TROUBLES ->
         troubles++; promised = 0;
         if :: acknowledge() :: true fi;
         message = NONE; endClaim(EXTENSION)
       }
    fi;

present: /* PushPresentation: entries are recorded as shown in the transaction that selects them. */
    if
    :: atomic { !frozen[EXTENSION] && isDue && lock == NOBODY -> begin(EXTENSION) };
       d_step {
         !frozen[EXTENSION] ->
         forEach(presentEntry);
         lock = NOBODY; inside[EXTENSION] = false
       }
    :: !frozen[EXTENSION] && !isDue
    fi;

answered:
    atomic {
      !frozen[EXTENSION] ->
      forEach(notify); content = 0;
      assert(lock != EXTENSION);
      assert(promised == 0 || isStored(promised - 1))
    };
    goto asleep
  } unless { killed[EXTENSION] };
  atomic {
    killed[EXTENSION] = false; unseen = unseen | content;
    ownership = ownership_initial; presence = presence_initial; asks = 0; questions = 0; event = 0; answer = 0; chain = 0;
    message = NONE; promised = 0; content = 0; hasClaim = false; isStale = false; isRepeat = false; hasPatience = false
  };
  goto asleep;

ended:
  skip
}
