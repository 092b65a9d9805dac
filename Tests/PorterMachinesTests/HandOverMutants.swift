/// Rules of the hand-over, each with an edit of the model that removes it, and the run that has to find the removal. The bounds
/// are the smallest in which it does.
struct HandOverMutant {
  enum File: String { case world, steps, app, `extension` }

  /// Replaces a text, which has to occur exactly this many times.
  struct Edit {
    let file: File
    let text: String
    let replacement: String
    let times: Int

    init(_ file: File, _ text: String, _ replacement: String, times: Int = 1) {
      (self.file, self.text, self.replacement, self.times) = (file, text, replacement, times)
    }
  }

  enum Run { case safety, liveness, neither }

  let title: String
  let run: Run
  let bounds: HandOverBounds
  let edits: [Edit]
  /// Why it does no harm in the code either, if neither run finds it.
  let reason: String?

  init(_ title: String, foundBy run: Run, _ bounds: HandOverBounds, _ edits: [Edit], _ reason: String? = nil) {
    (self.title, self.run, self.bounds, self.edits, self.reason) = (title, run, bounds, edits, reason)
  }

  static let all: [HandOverMutant] = [
    HandOverMutant(
      "the relay's answer is not one step", foundBy: .safety, .init(messages: 2, troubles: 1, launches: 1),
      [
        Edit(
          .extension, ":: atomic { !frozen[EXTENSION] && dropped < sent -> message = dropped }",
          ":: !frozen[EXTENSION] && dropped < sent -> message = dropped")
      ]
    ),
    HandOverMutant(
      "an app in the background counts what it takes in as shown", foundBy: .safety,
      .init(messages: 1, troubles: 1, launches: 1, hasRounds: true),
      [
        Edit(.steps, ":: me == APP && onScreen ->", ":: me == APP ->")
      ]
    ),
    HandOverMutant(
      "a claim takes no new epoch", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.steps, "    current[0] = false; current[1] = false;\n", "")
      ]
    ),
    HandOverMutant(
      "a commit does not look at the epoch", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.steps, "isStale = !current[me]", "isStale = false")
      ]
    ),
    HandOverMutant(
      "the epoch is looked at before the transaction", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.steps, "isStale = !current[me]; isRepeat", "isRepeat"),
        Edit(.extension, "-> message = dropped }", "-> message = dropped; isStale = !current[EXTENSION] }"),
        Edit(.app, "message = dropped; event", "message = dropped; isStale = !current[APP]; event"),
      ]
    ),
    HandOverMutant(
      "the fence is off once the last message is stored", foundBy: .safety,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.steps, "isStale = !current[me]", "isStale = !current[me] && ratchet < MESSAGES")
      ]
    ),
    HandOverMutant(
      "a claim is written outside the store's lock", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.steps, " && (lock == NOBODY || (lock == 1 - me && frozen[1 - me])) ->", " ->"),
        Edit(.steps, ":: lock != NOBODY -> event", ":: lock == 255 -> event"),
        Edit(.steps, ":: lock == NOBODY && unchanged", ":: unchanged"),
        Edit(.steps, ":: lock == NOBODY && !unchanged", ":: !unchanged"),
      ]
    ),
    HandOverMutant(
      "a claim does not compare the epoch with the one that was read", foundBy: .safety,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.steps, "lock == NOBODY && unchanged[me]", "lock == NOBODY"),
        Edit(.steps, ":: lock == NOBODY && !unchanged[me]", ":: false"),
      ]
    ),
    HandOverMutant(
      "the owner is not read again after a lost race", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .steps, "       stepOwnership()\n     }\n  :: atomic { !frozen[me] && asks == 1 << ownership_do_begin",
          "       if :: event == ownership_on_raced -> stepOwnership(); asks = 0 :: else -> stepOwnership() fi\n     }\n  :: atomic { !frozen[me] && asks == 1 << ownership_do_begin"
        )
      ]
    ),
    HandOverMutant(
      "a refused commit keeps the lock", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .steps, "    lock = NOBODY; inside[me] = false; chain = 0",
          "    if :: isStale :: else -> lock = NOBODY fi;\n    inside[me] = false; chain = 0")
      ]
    ),
    HandOverMutant(
      "a repeated message keeps the lock", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .steps, "    lock = NOBODY; inside[me] = false; chain = 0",
          "    if :: isRepeat && !isStale :: else -> lock = NOBODY fi;\n    inside[me] = false; chain = 0")
      ]
    ),
    HandOverMutant(
      "the ledger is not asked about a repeat", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.steps, "isRepeat = isStored(message)", "isRepeat = false")
      ]
    ),
    HandOverMutant(
      "item and ratchet are two transactions", foundBy: .safety, .init(messages: 2, troubles: 1, launches: 1),
      [
        Edit(.steps, "       ratchet = chain + 1\n", "       isStepDue = true\n"),
        Edit(.extension, "bool hasClaim,", "bool isStepDue, hasClaim,"),
        Edit(.app, "bool hasClaim,", "bool isStepDue, hasClaim,"),
        Edit(
          .extension, "isRepeat = false; hasPatience = false\n",
          "isRepeat = false; hasPatience = false; isStepDue = false\n"),
        Edit(
          .extension, "    atomic { !frozen[EXTENSION] -> if :: listens -> changed",
          "    if :: isStepDue -> ratchet = message + 1; isStepDue = false :: else fi;\n    atomic { !frozen[EXTENSION] -> if :: listens -> changed"
        ),
        Edit(
          .app, "            reload(message + 1);",
          "            if :: isStepDue -> ratchet = message + 1; isStepDue = false :: else fi;\n            reload(message + 1);"
        ),
      ]
    ),
    HandOverMutant(
      "a message is acknowledged before it is committed", foundBy: .safety,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.extension, "-> message = dropped }", "-> message = dropped; acknowledge() }")
      ]
    ),
    HandOverMutant(
      "the relay drops a message when it gives it", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.extension, "-> message = dropped }", "-> message = dropped; dropped++ }")
      ]
    ),
    HandOverMutant(
      "a refused commit is acknowledged", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .extension, "isRepeat = false; message = NONE;\n         goto",
          "isRepeat = false; acknowledge(); message = NONE;\n         goto")
      ]
    ),
    HandOverMutant(
      "an acknowledgement drops whichever message is first", foundBy: .safety,
      .init(messages: 2, troubles: 1, launches: 1),
      [
        Edit(.steps, ":: dropped == message -> assert", ":: dropped < sent -> assert")
      ]
    ),
    HandOverMutant(
      "a repeat is not acknowledged", foundBy: .liveness, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .extension, ":: else -> isStale = false; isRepeat = false",
          ":: isRepeat && !isStale -> promised = 0; isRepeat = false; message = NONE; endClaim(EXTENSION); goto present\n      :: else -> isStale = false; isRepeat = false"
        )
      ]
    ),
    HandOverMutant(
      "the transaction begins before the relay is asked", foundBy: .liveness,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .extension, "granted:\n    if",
          "granted:\n    atomic { !frozen[EXTENSION] && (lock == NOBODY || lock == EXTENSION) -> lock = EXTENSION };\n    if"
        ),
        Edit(
          .extension, "endClaim(EXTENSION); goto present", "lock = NOBODY; endClaim(EXTENSION); goto present", times: 3),
        Edit(
          .extension, "&& lock == NOBODY -> begin(EXTENSION) };\n    lookInside",
          "&& lock == EXTENSION -> begin(EXTENSION) };\n    lookInside"),
      ]
    ),
    HandOverMutant(
      "a push is answered with the lock held", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.extension, "         lock = NOBODY; inside[EXTENSION] = false\n", "         inside[EXTENSION] = false\n")
      ]
    ),
    HandOverMutant(
      "a kill leaves the lock behind", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.world, "  if :: lock == victim -> lock = NOBODY :: else fi;\n", "")
      ]
    ),
    HandOverMutant(
      "a kill leaves the phase lock behind", foundBy: .liveness, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.world, "  atWork[victim] = false;\n", "")
      ]
    ),
    HandOverMutant(
      "an app that owns the connection is believed to be at work (INC-12, INC-13)", foundBy: .liveness,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .extension, "owner == APP && atWork[APP] && onScreen && presence != presence_state_silent,",
          "owner == APP || owner == GONE,")
      ]
    ),
    HandOverMutant(
      "an app that does not answer is believed to be at work (INC-07)", foundBy: .liveness,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.extension, "event = presence_on_patienceOver; hasPatience = false", "event = presence_on_here")
      ]
    ),
    HandOverMutant(
      "an owner that does not answer prevails (INC-07)", foundBy: .liveness,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .extension, "owner == APP && atWork[APP] && onScreen && presence != presence_state_silent,",
          "owner == APP && atWork[APP],")
      ]
    ),
    HandOverMutant(
      "an extension yields to no app", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .extension, "claim(EXTENSION, owner == APP && atWork[APP] && onScreen && presence != presence_state_silent,",
          "claim(EXTENSION, false,")
      ]
    ),
    HandOverMutant(
      "an app waits for an extension (INC-22)", foundBy: .liveness, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.app, "claim(APP, false, false)", "claim(APP, owner == EXTENSION && busy[EXTENSION], false)")
      ]
    ),
    HandOverMutant(
      "a displaced app does not reload", foundBy: .neither,
      .init(messages: 1, troubles: 1, launches: 1, hasRounds: true),
      [
        Edit(.app, "  reload(ratchet);\n  event = ownership_on_reloaded", "  event = ownership_on_reloaded")
      ],
      "nothing of the store is kept in memory: Engine.storeChanged, CommittedChanges.noteOwnCommit and Engine.takeUpWork read the same entries again"
    ),
    HandOverMutant(
      "a displaced app does not forget its claim", foundBy: .safety,
      .init(messages: 1, troubles: 1, launches: 1, hasRounds: true),
      [
        Edit(
          .app,
          "  event = ownership_on_reloaded; stepOwnership();\n  assert(asks == (1 << ownership_do_forget));\n  asks = 0; current",
          "  current")
      ]
    ),
    HandOverMutant(
      "an app commits what reaches it after the user has left", foundBy: .safety,
      .init(messages: 1, troubles: 0, launches: 1),
      [
        Edit(.app, "deliverMessage) && !draining && lock", "deliverMessage) && lock")
      ]
    ),
    HandOverMutant(
      "an app counts as shown what it reads after the user has left", foundBy: .safety,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.app, ":: isSeen && ledger[told]", ":: onScreen && ledger[told]")
      ]
    ),
    HandOverMutant(
      "a push does not show what it recorded as shown", foundBy: .liveness,
      .init(messages: 1, troubles: 0, launches: 1),
      [
        Edit(.extension, "forEach(notify); content = 0;", "content = 0;")
      ]
    ),
    HandOverMutant(
      "a reload reads nothing", foundBy: .liveness, .init(messages: 1, troubles: 1, launches: 2),
      [
        Edit(.app, "       told < last && lock == NOBODY ->", "       false ->"),
        Edit(.app, "  :: told >= last", "  :: true"),
      ]
    ),
    HandOverMutant(
      "a push fetches one message (INC-38)", foundBy: .safety, .init(messages: 2, troubles: 0, launches: 1),
      [
        Edit(.extension, "message = NONE; goto granted", "message = NONE; endClaim(EXTENSION); goto present")
      ]
    ),
    HandOverMutant(
      "a fetch that failed is not repeated", foundBy: .liveness, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.app, "retryDue = hasFailed", "retryDue = false")
      ]
    ),
    HandOverMutant(
      "a round in the background claims again what was taken from it", foundBy: .liveness,
      .init(messages: 1, troubles: 1, launches: 2, hasRounds: true),
      [
        Edit(.app, "retryDue = hasFailed && onScreen", "retryDue = hasFailed")
      ]
    ),
    HandOverMutant(
      "a claim that failed is not repeated", foundBy: .liveness, .init(messages: 1, troubles: 2, launches: 1),
      [
        Edit(.app, "atomic { !frozen[APP] -> retryDue = onScreen; goto idle }", "goto idle")
      ]
    ),
    HandOverMutant(
      "the answer to a subscription is ignored", foundBy: .liveness, .init(messages: 1, troubles: 0, launches: 1),
      [
        Edit(
          .app, "    :: atomic { !frozen[APP] && !draining && dropped < sent -> subscribed = true }",
          "    :: atomic { !frozen[APP] && !draining && dropped < sent -> subscribed = true; goto idle }")
      ]
    ),
    HandOverMutant(
      "the wake-up is cleared after the look", foundBy: .liveness, .init(messages: 1, troubles: 0, launches: 1),
      [
        Edit(.app, "-> wakeByte = false; retryDue", "-> retryDue"),
        Edit(
          .app, "    :: atomic { !frozen[APP] && !draining && dropped == sent -> subscribed = true; goto idle }",
          "    :: atomic { !frozen[APP] && !draining && dropped == sent -> subscribed = true }; wakeByte = false; goto idle"
        ),
      ]
    ),
    HandOverMutant(
      "there is no periodic push", foundBy: .liveness, .init(messages: 1, troubles: 0, launches: 1),
      [
        Edit(.world, "sent == MESSAGES && !pushDue && !over", "false && !over")
      ]
    ),
    HandOverMutant(
      "a notification is shown before it is recorded", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(
          .extension, "isDue && lock == NOBODY -> begin(EXTENSION)",
          "isDue && lock == NOBODY -> forEach(notifyEarly); begin(EXTENSION)"),
        Edit(.extension, "     content = content | (1 << which)\n", "     skip\n"),
        Edit(
          .extension, "proctype ext",
          "inline notifyEarly(which) { if :: ledger[which] == ledger_entry_state_committed -> shown(EXTENSION, which) :: else fi }\n\nproctype ext"
        ),
      ]
    ),
    HandOverMutant(
      "a notification is not recorded as shown", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.extension, "     stepEntry(which, ledger_entry_on_present);\n", "     skip;\n")
      ]
    ),
    HandOverMutant(
      "an app that an extension asks does not look for commits", foundBy: .liveness,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.app, "hasPush = false; reload(ratchet);", "hasPush = false;")
      ]
    ),
    HandOverMutant(
      "the app opens its channel after it took the phase lock", foundBy: .liveness,
      .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.app, "busy[APP] = true; listens = true;", "busy[APP] = true; atWork[APP] = true;"),
        Edit(
          .app, "atWork[APP] = true; yieldAsked = busy[EXTENSION] && onScreen; reload",
          "listens = true; yieldAsked = busy[EXTENSION] && onScreen; reload"),
      ]
    ),
    HandOverMutant(
      "the app ends with the lock held", foundBy: .safety, .init(messages: 1, troubles: 1, launches: 1),
      [
        Edit(.app, "over -> atWork[APP] = false;", "over -> lock = APP; atWork[APP] = false;")
      ]
    ),
    HandOverMutant(
      "an assertion at the very end fails", foundBy: .safety, .init(messages: 1, troubles: 0, launches: 1),
      [
        Edit(.app, "ended:\n  skip", "ended:\n  assert(false)")
      ]
    ),
  ]
}

/// How large the world of the model is.
struct HandOverBounds {
  let messages: Int
  /// How often the system kills or freezes, lets time run out, or loses an answer.
  let troubles: Int
  /// How often the user opens the app.
  let launches: Int
  /// Or the system launches it for a round in the background.
  var hasRounds = false
}
