// Generated from spec/machines/token_status.scxml by porter-machines: change that file, run `make spec`.

/// The device token as the client knows it. The app registers it; the server proves by an encrypted push that the token
/// and the device belong together, and only then uses it. The extension may verify as well, since the app may not be
/// running (INC-62). Intent is recorded and retried (INC-68), and an active token is checked, so that a token dropped
/// by the provider is noticed (INC-63). Such a token is registered anew automatically: after a growing delay, at each
/// start, and once a day. The host is notified of each status and the reason for it. The state is stored with the
/// token, and a step that records something is taken in the transaction that stores it. An attempt to register or
/// replace is a reservation in the same transaction; its answer counts only while no other process has begun one since
/// (INC-09).
package enum TokenStatus: Machine {
  package enum State: UInt8, MachineCode {
    /// There is no token.
    case none
    /// Stored, not yet known to the server.
    case new
    /// The server has it, and sends the verification push.
    case registered
    /// The code has arrived, and is on its way to the server.
    case confirmed
    /// Proven: the server sends pushes to it.
    case active
    /// The server gave the token up.
    case expired
    /// The provider refuses the token.
    case invalid
    /// The provider reports that this is not a token.
    case invalidBad
    /// The token belongs to another app.
    case invalidTopic
    /// The token has expired; the system has another.
    case invalidExpired
    /// The app was removed, or lost its permission.
    case invalidUnregistered

    package var name: String {
      switch self {
      case .none: "none"
      case .new: "new"
      case .registered: "registered"
      case .confirmed: "confirmed"
      case .active: "active"
      case .expired: "expired"
      case .invalid: "invalid"
      case .invalidBad: "invalidBad"
      case .invalidTopic: "invalidTopic"
      case .invalidExpired: "invalidExpired"
      case .invalidUnregistered: "invalidUnregistered"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The host registers the first device token, or one other than the stored one.
    case registerNewToken
    /// The host registers the stored token again.
    case registerSameToken
    /// The server took the token (TNEW), and is about to send the verification push.
    case registerOk
    /// No answer, or one that asks to try again.
    case registerFailedTemporary
    /// The server refuses the token.
    case registerFailedPermanent
    /// The server replaced the old token with the new one (TRPL).
    case replaceOk
    /// No answer, or one that asks to try again.
    case replaceFailedTemporary
    /// The server no longer knows the old token.
    case replaceFailedPermanent
    /// A verification push was decrypted, and gives the code.
    case pushVerification
    /// The server took the code (TVFY).
    case verifyOk
    /// The server does not know this token, or the code is a different one.
    case verifyAuthError
    /// No answer, or one that asks to try again.
    case verifyFailedTemporary
    /// It is time to ask the server about the token.
    case checkDue
    /// The server reports: active.
    case checkActive
    /// The server reports: new, registered or confirmed; it waits for a code.
    case checkUnverified
    /// The server reports: expired.
    case checkExpired
    /// The provider refused the token without giving a reason.
    case checkInvalidNoReason
    /// The provider reports that this is not a token.
    case checkInvalidBad
    /// The provider reports that the token belongs to another app.
    case checkInvalidTopic
    /// The provider reports that the token has expired.
    case checkInvalidExpired
    /// The provider reports that the app was removed, or has lost its permission.
    case checkInvalidUnregistered
    /// The server does not know this token.
    case checkAuthError
    /// No answer, or one that asks to try again.
    case checkFailedTemporary
    /// The last request got no answer, and must be repeated.
    case retry
    /// The chat starts, or a day has passed: unfinished requests must be taken up, and the server asked about what it
    /// has.
    case takeUp
    /// The user wants a push for each message.
    case modeInstant
    /// The user wants a periodic wake-up only.
    case modePeriodic
    /// The user turns notifications off.
    case delete

    package var name: String {
      switch self {
      case .registerNewToken: "register.newToken"
      case .registerSameToken: "register.sameToken"
      case .registerOk: "register.ok"
      case .registerFailedTemporary: "register.failedTemporary"
      case .registerFailedPermanent: "register.failedPermanent"
      case .replaceOk: "replace.ok"
      case .replaceFailedTemporary: "replace.failedTemporary"
      case .replaceFailedPermanent: "replace.failedPermanent"
      case .pushVerification: "push.verification"
      case .verifyOk: "verify.ok"
      case .verifyAuthError: "verify.authError"
      case .verifyFailedTemporary: "verify.failedTemporary"
      case .checkDue: "check.due"
      case .checkActive: "check.active"
      case .checkUnverified: "check.unverified"
      case .checkExpired: "check.expired"
      case .checkInvalidNoReason: "check.invalid.noReason"
      case .checkInvalidBad: "check.invalid.bad"
      case .checkInvalidTopic: "check.invalid.topic"
      case .checkInvalidExpired: "check.invalid.expired"
      case .checkInvalidUnregistered: "check.invalid.unregistered"
      case .checkAuthError: "check.authError"
      case .checkFailedTemporary: "check.failedTemporary"
      case .retry: "retry"
      case .takeUp: "takeUp"
      case .modeInstant: "mode.instant"
      case .modePeriodic: "mode.periodic"
      case .delete: "delete"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Choose a server, make the keys, and store the token. When replacing a record that was just forgotten, keep its
    /// device token and mode, which may be newer than the request being answered.
    case createRecord
    /// Delete the token, its keys and its server.
    case forgetRecord
    /// Store the new device token in place of the one known to the server.
    case saveDeviceToken
    /// Begin an attempt to register: results of an earlier attempt are refused from now on (INC-09), and a process that
    /// finds this one open asks again.
    case reserveRegister
    /// Begin an attempt to replace, under the same rules.
    case reserveReplace
    /// Queue the request that the server forget the token (TDEL).
    case queueDelete
    /// Queue the request for periodic wake-ups (TCRN), 20 minutes: the server gets it, whatever happens to this
    /// process.
    case queueInterval
    /// Store the id and the key given by the server. Under a new id nothing is subscribed yet, so every subscription
    /// gets tokenReplaced.
    case saveServerToken
    /// Store the verification code, so that it survives the process.
    case saveCode
    /// Store the mode.
    case saveMode
    /// Raise turnOff at the subscriptions of all connections.
    case turnOffSubscriptions
    /// Store the status. A waiting host is answered with it once no request is outstanding.
    case saveStatus
    /// Store why the token needs repair (the name of the event), and when that was noticed.
    case saveReason
    /// End the requests in progress: their answers go to a mailbox that is given up.
    case abandonRequests
    /// Ask the server to take the token (TNEW). Answer: register.
    case sendRegister
    /// Ask the server to replace the old token with the new one (TRPL). Answer: replace.
    case sendReplace
    /// Send the stored code (TVFY). Answer: verify.
    case sendVerify
    /// Ask for the status (TCHK). Answer: check.
    case sendCheck
    /// Offer the queued requests to the relay until it has them.
    case sendQueued
    /// Subscribe all connections, if the stored status is active and the mode is instant.
    case createSubscriptions
    /// Raise retry later, after a growing delay (INC-65, INC-68).
    case scheduleRetry
    /// Raise takeUp in a day (INC-63).
    case scheduleCheck
    /// Raise retry after a delay that doubles with each repair, up to a day; an active token ends the series. A
    /// provider that refuses the token for good is not asked continuously.
    case scheduleRepair
    /// Begin the next repair with the shortest delay: the token works.
    case endRepair
    /// Report the status and the reason (ntfTokenStatus), unless they are the ones last reported.
    case reportStatus
    /// Pass the server's error to the host.
    case reportError

    package var name: String {
      switch self {
      case .createRecord: "createRecord"
      case .forgetRecord: "forgetRecord"
      case .saveDeviceToken: "saveDeviceToken"
      case .reserveRegister: "reserveRegister"
      case .reserveReplace: "reserveReplace"
      case .queueDelete: "queueDelete"
      case .queueInterval: "queueInterval"
      case .saveServerToken: "saveServerToken"
      case .saveCode: "saveCode"
      case .saveMode: "saveMode"
      case .turnOffSubscriptions: "turnOffSubscriptions"
      case .saveStatus: "saveStatus"
      case .saveReason: "saveReason"
      case .abandonRequests: "abandonRequests"
      case .sendRegister: "sendRegister"
      case .sendReplace: "sendReplace"
      case .sendVerify: "sendVerify"
      case .sendCheck: "sendCheck"
      case .sendQueued: "sendQueued"
      case .createSubscriptions: "createSubscriptions"
      case .scheduleRetry: "scheduleRetry"
      case .scheduleCheck: "scheduleCheck"
      case .scheduleRepair: "scheduleRepair"
      case .endRepair: "endRepair"
      case .reportStatus: "reportStatus"
      case .reportError: "reportError"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case noToken
    case stale
    case noServerKey
    case alreadyActive
    case tokenUnusable

    package var name: String {
      switch self {
      case .noToken: "noToken"
      case .stale: "stale"
      case .noServerKey: "noServerKey"
      case .alreadyActive: "alreadyActive"
      case .tokenUnusable: "tokenUnusable"
      }
    }
  }

  package static var name: String { "token_status" }

  package static var initial: State { .none }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .abandonRequests, .sendQueued, .createSubscriptions, .scheduleRetry, .scheduleCheck,
      .scheduleRepair, .endRepair:
      .act
    case .createRecord, .forgetRecord, .saveDeviceToken, .reserveRegister, .reserveReplace,
      .queueDelete, .queueInterval, .saveServerToken, .saveCode, .saveMode, .turnOffSubscriptions,
      .saveStatus, .saveReason:
      .record
    case .sendRegister, .sendReplace, .sendVerify, .sendCheck: .ask
    case .reportStatus, .reportError: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<TokenStatus> {
    switch state {
    case .none: stepNone(event)
    case .new: stepNew(event)
    case .registered: stepRegistered(event)
    case .confirmed: stepConfirmed(event)
    case .active: stepActive(event)
    case .expired: stepExpired(event)
    case .invalid: stepInvalid(event)
    case .invalidBad: stepInvalidBad(event)
    case .invalidTopic: stepInvalidTopic(event)
    case .invalidExpired: stepInvalidExpired(event)
    case .invalidUnregistered: stepInvalidUnregistered(event)
    }
  }

  @inline(__always)
  private static func stepNone(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.new, .moved, .createRecord, .reserveRegister, .saveStatus, .reportStatus, .sendRegister)
    case .registerSameToken, .pushVerification, .modeInstant, .modePeriodic, .delete:
      // CMD PROHIBITED in the interface.
      MachineStep(.none, .refused(.noToken))
    case .registerOk, .registerFailedTemporary, .registerFailedPermanent, .replaceOk,
      .replaceFailedTemporary, .replaceFailedPermanent, .verifyOk, .verifyAuthError,
      .verifyFailedTemporary, .checkDue, .checkActive, .checkUnverified, .checkExpired,
      .checkInvalidNoReason, .checkInvalidBad, .checkInvalidTopic, .checkInvalidExpired,
      .checkInvalidUnregistered, .checkAuthError, .checkFailedTemporary, .retry, .takeUp:
      MachineStep(.none, .ignored(.stale))
    }
  }

  @inline(__always)
  private static func stepNew(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.new, .stayed, .saveDeviceToken, .reserveRegister, .sendRegister)
    case .registerSameToken, .retry:
      MachineStep(.new, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .saveStatus, .reportStatus, .scheduleCheck)
    case .registerFailedTemporary:
      MachineStep(.new, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      // The intent stays stored; the next registration tries again (INC-68).
      MachineStep(.new, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk, .replaceFailedTemporary, .replaceFailedPermanent, .verifyOk, .verifyAuthError,
      .verifyFailedTemporary, .checkDue, .checkActive, .checkUnverified, .checkExpired,
      .checkInvalidNoReason, .checkInvalidBad, .checkInvalidTopic, .checkInvalidExpired,
      .checkInvalidUnregistered, .checkAuthError, .checkFailedTemporary:
      MachineStep(.new, .ignored(.stale))
    case .pushVerification:
      // Without the key from the server's answer no code can have been decrypted.
      MachineStep(.new, .refused(.noServerKey))
    case .takeUp:
      MachineStep(.new, .stayed, .reserveRegister, .reportStatus, .sendRegister)
    case .modeInstant:
      MachineStep(.new, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.new, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      // The server does not have it. The relay may still have notifiers from before the server lost the record.
      MachineStep(.none, .moved, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests)
    }
  }

  @inline(__always)
  private static func stepRegistered(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.registered, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      // The push may have been lost: the server sends the same code again.
      MachineStep(.registered, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .stayed, .saveServerToken)
    case .registerFailedTemporary:
      MachineStep(.registered, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.registered, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk:
      MachineStep(.registered, .stayed, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.registered, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      // The interval is requested along with the code: when the server answers, there may be no process to request it.
      MachineStep(.confirmed, .moved, .saveCode, .saveStatus, .queueInterval, .reportStatus, .sendVerify, .sendQueued)
    case .verifyOk, .checkActive:
      // The other process verified it (INC-62).
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .verifyFailedTemporary:
      MachineStep(.registered, .ignored(.stale))
    case .checkDue:
      MachineStep(.registered, .stayed, .sendCheck)
    case .checkUnverified:
      // The push with the code may have been lost, or killed along with its extension: the server sends it once more
      // (INC-62).
      MachineStep(.registered, .stayed, .reserveRegister, .sendRegister, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      MachineStep(.registered, .stayed, .reportStatus, .sendCheck)
    case .modeInstant:
      MachineStep(.registered, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.registered, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepConfirmed(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.confirmed, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .checkUnverified, .retry:
      MachineStep(.confirmed, .stayed, .sendVerify)
    case .registerOk, .registerFailedTemporary, .registerFailedPermanent:
      MachineStep(.confirmed, .ignored(.stale))
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.confirmed, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      MachineStep(.confirmed, .stayed, .saveCode, .queueInterval, .sendVerify, .sendQueued)
    case .verifyOk, .checkActive:
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .verifyFailedTemporary:
      MachineStep(.confirmed, .stayed, .scheduleRetry)
    case .checkDue:
      MachineStep(.confirmed, .stayed, .sendCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      MachineStep(.confirmed, .stayed, .reportStatus, .sendVerify)
    case .modeInstant:
      MachineStep(.confirmed, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.confirmed, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.active, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      MachineStep(.active, .stayed, .sendCheck)
    case .registerOk, .registerFailedTemporary, .registerFailedPermanent, .verifyFailedTemporary:
      MachineStep(.active, .ignored(.stale))
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.active, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification, .verifyOk:
      MachineStep(.active, .ignored(.alreadyActive))
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .checkDue:
      MachineStep(.active, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .stayed, .queueInterval, .sendQueued, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      // The server lost the proof: have it send a code.
      MachineStep(.registered, .moved, .reserveRegister, .saveStatus, .saveReason, .reportStatus, .sendRegister)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      MachineStep(.active, .stayed, .reportStatus, .sendCheck)
    case .modeInstant:
      MachineStep(.active, .stayed, .saveMode, .createSubscriptions)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.active, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepExpired(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.expired, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      MachineStep(.expired, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .saveStatus, .reportStatus, .scheduleCheck)
    case .registerFailedTemporary:
      MachineStep(.expired, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.expired, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.expired, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      MachineStep(.expired, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.expired, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .checkDue:
      MachineStep(.expired, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .stayed, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      // Repaired automatically: the provider may accept the token again, and a server that gave it up gets it back.
      MachineStep(.expired, .stayed, .reserveRegister, .reportStatus, .sendRegister)
    case .modeInstant:
      MachineStep(.expired, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.expired, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepInvalid(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalid, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      MachineStep(.invalid, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .saveStatus, .reportStatus, .scheduleCheck)
    case .registerFailedTemporary:
      MachineStep(.invalid, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalid, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalid, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      MachineStep(.invalid, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalid, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .checkDue:
      MachineStep(.invalid, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .stayed, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      // Repaired automatically: the provider may accept the token again, and a server that gave it up gets it back.
      MachineStep(.invalid, .stayed, .reserveRegister, .reportStatus, .sendRegister)
    case .modeInstant:
      MachineStep(.invalid, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.invalid, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepInvalidBad(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidBad, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      MachineStep(.invalidBad, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .saveStatus, .reportStatus, .scheduleCheck)
    case .registerFailedTemporary:
      MachineStep(.invalidBad, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidBad, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidBad, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      MachineStep(.invalidBad, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidBad, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .checkDue:
      MachineStep(.invalidBad, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .stayed, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      // Repaired automatically: the provider may accept the token again, and a server that gave it up gets it back.
      MachineStep(.invalidBad, .stayed, .reserveRegister, .reportStatus, .sendRegister)
    case .modeInstant:
      MachineStep(.invalidBad, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.invalidBad, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepInvalidTopic(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidTopic, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      MachineStep(.invalidTopic, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .saveStatus, .reportStatus, .scheduleCheck)
    case .registerFailedTemporary:
      MachineStep(.invalidTopic, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidTopic, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidTopic, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      MachineStep(.invalidTopic, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidTopic, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .checkDue:
      MachineStep(.invalidTopic, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .stayed, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      // Repaired automatically: the provider may accept the token again, and a server that gave it up gets it back.
      MachineStep(.invalidTopic, .stayed, .reserveRegister, .reportStatus, .sendRegister)
    case .modeInstant:
      MachineStep(.invalidTopic, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.invalidTopic, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepInvalidExpired(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidExpired, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      MachineStep(.invalidExpired, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .saveStatus, .reportStatus, .scheduleCheck)
    case .registerFailedTemporary:
      MachineStep(.invalidExpired, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidExpired, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidExpired, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      MachineStep(.invalidExpired, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidExpired, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .checkDue:
      MachineStep(.invalidExpired, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .stayed, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(
        .invalidUnregistered, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .takeUp:
      // Repaired automatically: the provider may accept the token again, and a server that gave it up gets it back.
      MachineStep(.invalidExpired, .stayed, .reserveRegister, .reportStatus, .sendRegister)
    case .modeInstant:
      MachineStep(.invalidExpired, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.invalidExpired, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }

  @inline(__always)
  private static func stepInvalidUnregistered(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidUnregistered, .stayed, .saveDeviceToken, .reserveReplace, .sendReplace)
    case .registerSameToken, .retry:
      MachineStep(.invalidUnregistered, .stayed, .reserveRegister, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .saveStatus, .reportStatus, .scheduleCheck)
    case .registerFailedTemporary:
      MachineStep(.invalidUnregistered, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidUnregistered, .stayed, .saveReason, .reportStatus, .reportError, .scheduleCheck)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidUnregistered, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .pushVerification:
      MachineStep(.invalidUnregistered, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidUnregistered, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The server does not know the record: begin again.
      MachineStep(
        .new, .moved, .forgetRecord, .createRecord, .reserveRegister, .saveStatus, .saveReason, .abandonRequests,
        .reportStatus, .sendRegister)
    case .checkDue:
      MachineStep(.invalidUnregistered, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(
        .active, .moved, .saveStatus, .queueInterval, .endRepair, .reportStatus, .sendQueued, .createSubscriptions,
        .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus, .saveReason, .reportStatus, .scheduleRepair, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .stayed, .scheduleCheck)
    case .takeUp:
      // Repaired automatically: the provider may accept the token again, and a server that gave it up gets it back.
      MachineStep(.invalidUnregistered, .stayed, .reserveRegister, .reportStatus, .sendRegister)
    case .modeInstant:
      MachineStep(.invalidUnregistered, .stayed, .saveMode)
    case .modePeriodic:
      // Even while the token is not active: the server keeps subscriptions across a repair.
      MachineStep(.invalidUnregistered, .stayed, .saveMode, .turnOffSubscriptions)
    case .delete:
      MachineStep(
        .none, .moved, .queueDelete, .turnOffSubscriptions, .forgetRecord, .saveStatus, .abandonRequests, .sendQueued)
    }
  }
}

extension MachineRunner where M == TokenStatus {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: TokenStatus.Event) -> MachineStep<TokenStatus> {
    let step = TokenStatus.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `TokenStatus`, one method for each, inside the transaction that takes the step.
package protocol TokenStatusRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Choose a server, make the keys, and store the token. When replacing a record that was just forgotten, keep its
  /// device token and mode, which may be newer than the request being answered.
  func createRecord(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Delete the token, its keys and its server.
  func forgetRecord(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Store the new device token in place of the one known to the server.
  func saveDeviceToken(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Begin an attempt to register: results of an earlier attempt are refused from now on (INC-09), and a process that
  /// finds this one open asks again.
  func reserveRegister(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Begin an attempt to replace, under the same rules.
  func reserveReplace(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Queue the request that the server forget the token (TDEL).
  func queueDelete(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Queue the request for periodic wake-ups (TCRN), 20 minutes: the server gets it, whatever happens to this process.
  func queueInterval(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Store the id and the key given by the server. Under a new id nothing is subscribed yet, so every subscription gets
  /// tokenReplaced.
  func saveServerToken(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Store the verification code, so that it survives the process.
  func saveCode(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Store the mode.
  func saveMode(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Raise turnOff at the subscriptions of all connections.
  func turnOffSubscriptions(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Store the status. A waiting host is answered with it once no request is outstanding.
  func saveStatus(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
  /// Store why the token needs repair (the name of the event), and when that was noticed.
  func saveReason(_ argument: inout Argument, _ next: TokenStatus.State) throws(Failure)
}

extension TokenStatus {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: TokenStatusRecord>(
    _ step: MachineStep<TokenStatus>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .createRecord: try recorder.createRecord(&argument, step.next)
      case .forgetRecord: try recorder.forgetRecord(&argument, step.next)
      case .saveDeviceToken: try recorder.saveDeviceToken(&argument, step.next)
      case .reserveRegister: try recorder.reserveRegister(&argument, step.next)
      case .reserveReplace: try recorder.reserveReplace(&argument, step.next)
      case .queueDelete: try recorder.queueDelete(&argument, step.next)
      case .queueInterval: try recorder.queueInterval(&argument, step.next)
      case .saveServerToken: try recorder.saveServerToken(&argument, step.next)
      case .saveCode: try recorder.saveCode(&argument, step.next)
      case .saveMode: try recorder.saveMode(&argument, step.next)
      case .turnOffSubscriptions: try recorder.turnOffSubscriptions(&argument, step.next)
      case .saveStatus: try recorder.saveStatus(&argument, step.next)
      case .saveReason: try recorder.saveReason(&argument, step.next)
      case .abandonRequests, .sendRegister, .sendReplace, .sendVerify, .sendCheck, .sendQueued,
        .createSubscriptions, .scheduleRetry, .scheduleCheck, .scheduleRepair, .endRepair,
        .reportStatus, .reportError:
        break
      }
    }
  }
}

/// Carries out the effects of `TokenStatus`, one method for each.
package protocol TokenStatusEffects {
  /// The event's data.
  associatedtype Argument
  /// End the requests in progress: their answers go to a mailbox that is given up.
  func abandonRequests(_ argument: Argument)
  /// Ask the server to take the token (TNEW). Answer: register.
  func sendRegister(_ argument: Argument)
  /// Ask the server to replace the old token with the new one (TRPL). Answer: replace.
  func sendReplace(_ argument: Argument)
  /// Send the stored code (TVFY). Answer: verify.
  func sendVerify(_ argument: Argument)
  /// Ask for the status (TCHK). Answer: check.
  func sendCheck(_ argument: Argument)
  /// Offer the queued requests to the relay until it has them.
  func sendQueued(_ argument: Argument)
  /// Subscribe all connections, if the stored status is active and the mode is instant.
  func createSubscriptions(_ argument: Argument)
  /// Raise retry later, after a growing delay (INC-65, INC-68).
  func scheduleRetry(_ argument: Argument)
  /// Raise takeUp in a day (INC-63).
  func scheduleCheck(_ argument: Argument)
  /// Raise retry after a delay that doubles with each repair, up to a day; an active token ends the series. A provider
  /// that refuses the token for good is not asked continuously.
  func scheduleRepair(_ argument: Argument)
  /// Begin the next repair with the shortest delay: the token works.
  func endRepair(_ argument: Argument)
  /// Report the status and the reason (ntfTokenStatus), unless they are the ones last reported.
  func reportStatus(_ argument: Argument)
  /// Pass the server's error to the host.
  func reportError(_ argument: Argument)
}

extension TokenStatus {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: TokenStatusEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .abandonRequests: performer.abandonRequests(argument)
    case .sendRegister: performer.sendRegister(argument)
    case .sendReplace: performer.sendReplace(argument)
    case .sendVerify: performer.sendVerify(argument)
    case .sendCheck: performer.sendCheck(argument)
    case .sendQueued: performer.sendQueued(argument)
    case .createSubscriptions: performer.createSubscriptions(argument)
    case .scheduleRetry: performer.scheduleRetry(argument)
    case .scheduleCheck: performer.scheduleCheck(argument)
    case .scheduleRepair: performer.scheduleRepair(argument)
    case .endRepair: performer.endRepair(argument)
    case .reportStatus: performer.reportStatus(argument)
    case .reportError: performer.reportError(argument)
    case .createRecord, .forgetRecord, .saveDeviceToken, .reserveRegister, .reserveReplace,
      .queueDelete, .queueInterval, .saveServerToken, .saveCode, .saveMode, .turnOffSubscriptions,
      .saveStatus, .saveReason:
      break
    }
  }
}
