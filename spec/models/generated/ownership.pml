/* Generated from spec/machines/ownership.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and ownership_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define ownership_state_free 0
#define ownership_state_claiming 1
#define ownership_state_held 2
#define ownership_state_stale 3
#define ownership_state_lost 4

#define ownership_on_want 0
#define ownership_on_ownerYields 1
#define ownership_on_ownerPrevails 2
#define ownership_on_granted 3
#define ownership_on_raced 4
#define ownership_on_missing 5
#define ownership_on_failed 6
#define ownership_on_suspected 7
#define ownership_on_confirmed 8
#define ownership_on_displaced 9
#define ownership_on_reloaded 10
#define ownership_on_finished 11

#define ownership_do_readOwner 0
#define ownership_do_takeEpoch 1
#define ownership_do_beginWork 2
#define ownership_do_skipWork 3
#define ownership_do_refuseWork 4
#define ownership_do_checkEpoch 5
#define ownership_do_discardWork 6
#define ownership_do_reload 7
#define ownership_do_forget 8

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define ownership_initial ownership_state_free
#define ownership_isFinal(s) (false)

#ifndef PORTER_WORLD
inline ownership_does(effect) {
  skip
}
#endif

inline ownership_step(state, event, answer) {
  if
  :: state == ownership_state_free ->
    if
    :: event == ownership_on_want ->
       answer = MOVED; state = ownership_state_claiming; ownership_does(ownership_do_readOwner)
    :: event == ownership_on_ownerYields ->
       answer = IGNORED
    :: event == ownership_on_ownerPrevails ->
       answer = IGNORED
    :: event == ownership_on_granted ->
       answer = IGNORED
    :: event == ownership_on_raced ->
       answer = IGNORED
    :: event == ownership_on_missing ->
       answer = IGNORED
    :: event == ownership_on_failed ->
       answer = IGNORED
    :: event == ownership_on_suspected ->
       answer = IGNORED
    :: event == ownership_on_confirmed ->
       answer = IGNORED
    :: event == ownership_on_displaced ->
       answer = IGNORED
    :: event == ownership_on_reloaded ->
       answer = IGNORED
    :: event == ownership_on_finished ->
       answer = IGNORED
    fi
  :: state == ownership_state_claiming ->
    if
    :: event == ownership_on_want ->
       answer = REFUSED
    :: event == ownership_on_ownerYields ->
       answer = STAYED; ownership_does(ownership_do_takeEpoch)
    :: event == ownership_on_ownerPrevails ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_skipWork)
    :: event == ownership_on_granted ->
       answer = MOVED; state = ownership_state_held; ownership_does(ownership_do_beginWork)
    :: event == ownership_on_raced ->
       answer = STAYED; ownership_does(ownership_do_readOwner)
    :: event == ownership_on_missing ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_refuseWork)
    :: event == ownership_on_failed ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_refuseWork)
    :: event == ownership_on_suspected ->
       answer = IGNORED
    :: event == ownership_on_confirmed ->
       answer = IGNORED
    :: event == ownership_on_displaced ->
       answer = IGNORED
    :: event == ownership_on_reloaded ->
       answer = IGNORED
    :: event == ownership_on_finished ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_refuseWork)
    fi
  :: state == ownership_state_held ->
    if
    :: event == ownership_on_want ->
       answer = MOVED; state = ownership_state_claiming; ownership_does(ownership_do_readOwner)
    :: event == ownership_on_ownerYields ->
       answer = IGNORED
    :: event == ownership_on_ownerPrevails ->
       answer = IGNORED
    :: event == ownership_on_granted ->
       answer = IGNORED
    :: event == ownership_on_raced ->
       answer = IGNORED
    :: event == ownership_on_missing ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    :: event == ownership_on_failed ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    :: event == ownership_on_suspected ->
       answer = MOVED; state = ownership_state_stale; ownership_does(ownership_do_checkEpoch)
    :: event == ownership_on_confirmed ->
       answer = IGNORED
    :: event == ownership_on_displaced ->
       answer = MOVED; state = ownership_state_lost; ownership_does(ownership_do_discardWork); ownership_does(ownership_do_reload)
    :: event == ownership_on_reloaded ->
       answer = IGNORED
    :: event == ownership_on_finished ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    fi
  :: state == ownership_state_stale ->
    if
    :: event == ownership_on_want ->
       answer = MOVED; state = ownership_state_claiming; ownership_does(ownership_do_readOwner)
    :: event == ownership_on_ownerYields ->
       answer = IGNORED
    :: event == ownership_on_ownerPrevails ->
       answer = IGNORED
    :: event == ownership_on_granted ->
       answer = IGNORED
    :: event == ownership_on_raced ->
       answer = IGNORED
    :: event == ownership_on_missing ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    :: event == ownership_on_failed ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    :: event == ownership_on_suspected ->
       answer = IGNORED
    :: event == ownership_on_confirmed ->
       answer = MOVED; state = ownership_state_held
    :: event == ownership_on_displaced ->
       answer = MOVED; state = ownership_state_lost; ownership_does(ownership_do_discardWork); ownership_does(ownership_do_reload)
    :: event == ownership_on_reloaded ->
       answer = IGNORED
    :: event == ownership_on_finished ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    fi
  :: state == ownership_state_lost ->
    if
    :: event == ownership_on_want ->
       answer = REFUSED
    :: event == ownership_on_ownerYields ->
       answer = IGNORED
    :: event == ownership_on_ownerPrevails ->
       answer = IGNORED
    :: event == ownership_on_granted ->
       answer = IGNORED
    :: event == ownership_on_raced ->
       answer = IGNORED
    :: event == ownership_on_missing ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    :: event == ownership_on_failed ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    :: event == ownership_on_suspected ->
       answer = IGNORED
    :: event == ownership_on_confirmed ->
       answer = IGNORED
    :: event == ownership_on_displaced ->
       answer = IGNORED
    :: event == ownership_on_reloaded ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    :: event == ownership_on_finished ->
       answer = MOVED; state = ownership_state_free; ownership_does(ownership_do_forget)
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype ownership_world() {
  byte state = ownership_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = ownership_on_want
      :: event = ownership_on_ownerYields
      :: event = ownership_on_ownerPrevails
      :: event = ownership_on_granted
      :: event = ownership_on_raced
      :: event = ownership_on_missing
      :: event = ownership_on_failed
      :: event = ownership_on_suspected
      :: event = ownership_on_confirmed
      :: event = ownership_on_displaced
      :: event = ownership_on_reloaded
      :: event = ownership_on_finished
      fi;
      answer = 0;
      ownership_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
