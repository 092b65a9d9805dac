// Generated from spec/machines/token_status.scxml by porter-machines: change that file, run `make spec`.

/// The device token as the client knows it. The app registers it, the server proves by an encrypted push that the token
/// and the device belong together, and only then uses it. The extension may verify as well, since the app may not be
/// running (INC-62). Intent is recorded and retried (INC-68), and an active token is checked, so that a token that the
/// provider dropped is noticed (INC-63).
package enum TokenStatus: Machine {
  package enum State: UInt8, MachineCode {
    /// There is no token.
    case none
    /// On record, not yet known to the server.
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
    /// The provider says that this is no token.
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
    /// The host registers a device token that is not the one on record, or the first.
    case registerNewToken
    /// The host registers the token on record again.
    case registerSameToken
    /// The server took the token (TNEW): it is about to send the verification push.
    case registerOk
    /// No answer, or one that says to try again.
    case registerFailedTemporary
    /// The server will not take the token.
    case registerFailedPermanent
    /// The server took the new token in place of the old one (TRPL).
    case replaceOk
    /// No answer, or one that says to try again.
    case replaceFailedTemporary
    /// The server does not know the old token any more.
    case replaceFailedPermanent
    /// A verification push was decrypted: here is the code.
    case pushVerification
    /// The server took the code (TVFY).
    case verifyOk
    /// The server does not know this token, or the code is another one.
    case verifyAuthError
    /// No answer, or one that says to try again.
    case verifyFailedTemporary
    /// It is time to ask the server about the token.
    case checkDue
    /// The server says: active.
    case checkActive
    /// The server says: new, registered or confirmed; it waits for a code.
    case checkUnverified
    /// The server says: expired.
    case checkExpired
    /// The provider refused the token, for no reason given.
    case checkInvalidNoReason
    /// The provider says that this is no token.
    case checkInvalidBad
    /// The provider says that the token belongs to another app.
    case checkInvalidTopic
    /// The provider says that the token has expired.
    case checkInvalidExpired
    /// The provider says that the app was removed, or has lost its permission.
    case checkInvalidUnregistered
    /// The server does not know this token.
    case checkAuthError
    /// No answer, or one that says to try again.
    case checkFailedTemporary
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
      case .modeInstant: "mode.instant"
      case .modePeriodic: "mode.periodic"
      case .delete: "delete"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Choose a server, make the keys, and put the token on record.
    case createRecord
    /// Delete the token, its keys and its server from the record.
    case forgetRecord
    /// Put the new device token on record, beside the one that the server knows.
    case saveDeviceToken
    /// Ask the server to take the token (TNEW). Answer: register.
    case sendRegister
    /// Ask the server to take the new token in place of the old (TRPL). Answer: replace.
    case sendReplace
    /// Send the code on record (TVFY). Answer: verify.
    case sendVerify
    /// Ask for the status (TCHK). Answer: check.
    case sendCheck
    /// Ask for periodic wake-ups (TCRN), 20 minutes; no answer is waited for.
    case sendInterval
    /// Put the token among those the server must forget (TDEL), retried for 21 days.
    case queueDelete
    /// Put the id and the key that the server gave on record.
    case saveServerToken
    /// Put the verification code on record, so that it survives the process.
    case saveCode
    /// Put the mode on record.
    case saveMode
    /// Subscribe all connections, if the status on record is active and the mode is instant.
    case createSubscriptions
    /// Give up the subscriptions of all connections.
    case deleteSubscriptions
    /// Repeat the last request later, after a growing delay (INC-65, INC-68).
    case scheduleRetry
    /// Raise check.due in a day (INC-63).
    case scheduleCheck
    /// Tell the host what the server said.
    case reportError
    /// Put the status on record, and tell the host.
    case publishStatus

    package var name: String {
      switch self {
      case .createRecord: "createRecord"
      case .forgetRecord: "forgetRecord"
      case .saveDeviceToken: "saveDeviceToken"
      case .sendRegister: "sendRegister"
      case .sendReplace: "sendReplace"
      case .sendVerify: "sendVerify"
      case .sendCheck: "sendCheck"
      case .sendInterval: "sendInterval"
      case .queueDelete: "queueDelete"
      case .saveServerToken: "saveServerToken"
      case .saveCode: "saveCode"
      case .saveMode: "saveMode"
      case .createSubscriptions: "createSubscriptions"
      case .deleteSubscriptions: "deleteSubscriptions"
      case .scheduleRetry: "scheduleRetry"
      case .scheduleCheck: "scheduleCheck"
      case .reportError: "reportError"
      case .publishStatus: "publishStatus"
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
    .act
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
      MachineStep(.new, .moved, .createRecord, .sendRegister, .publishStatus)
    case .registerSameToken, .pushVerification, .modeInstant, .modePeriodic, .delete:
      // CMD PROHIBITED in the interface.
      MachineStep(.none, .refused(.noToken))
    case .registerOk, .registerFailedTemporary, .registerFailedPermanent, .replaceOk,
      .replaceFailedTemporary, .replaceFailedPermanent, .verifyOk, .verifyAuthError,
      .verifyFailedTemporary, .checkDue, .checkActive, .checkUnverified, .checkExpired,
      .checkInvalidNoReason, .checkInvalidBad, .checkInvalidTopic, .checkInvalidExpired,
      .checkInvalidUnregistered, .checkAuthError, .checkFailedTemporary:
      MachineStep(.none, .ignored(.stale))
    }
  }

  @inline(__always)
  private static func stepNew(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.new, .stayed, .saveDeviceToken, .sendRegister)
    case .registerSameToken:
      MachineStep(.new, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .registerFailedTemporary:
      MachineStep(.new, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      // The intent stays on record; the next registration tries again (INC-68).
      MachineStep(.new, .stayed, .reportError)
    case .replaceOk, .replaceFailedTemporary, .replaceFailedPermanent, .verifyOk, .verifyAuthError,
      .verifyFailedTemporary, .checkDue, .checkActive, .checkUnverified, .checkExpired,
      .checkInvalidNoReason, .checkInvalidBad, .checkInvalidTopic, .checkInvalidExpired,
      .checkInvalidUnregistered, .checkAuthError, .checkFailedTemporary:
      MachineStep(.new, .ignored(.stale))
    case .pushVerification:
      // Without the key of the server's answer no code can have been decrypted.
      MachineStep(.new, .refused(.noServerKey))
    case .modeInstant, .modePeriodic:
      MachineStep(.new, .stayed, .saveMode)
    case .delete:
      // The server never heard of it.
      MachineStep(.none, .moved, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepRegistered(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.registered, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      // The push may have been lost: the server sends the same code again.
      MachineStep(.registered, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .stayed, .saveServerToken)
    case .registerFailedTemporary:
      MachineStep(.registered, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.registered, .stayed, .reportError)
    case .replaceOk:
      MachineStep(.registered, .stayed, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.registered, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.confirmed, .moved, .saveCode, .sendVerify, .publishStatus)
    case .verifyOk, .checkActive:
      // The other process verified it (INC-62).
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .verifyFailedTemporary:
      MachineStep(.registered, .ignored(.stale))
    case .checkDue:
      MachineStep(.registered, .stayed, .sendCheck)
    case .checkUnverified:
      // The push with the code may have been lost, or killed with its extension: the server sends it once more
      // (INC-62).
      MachineStep(.registered, .stayed, .sendRegister, .scheduleCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant, .modePeriodic:
      MachineStep(.registered, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepConfirmed(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.confirmed, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken, .checkUnverified:
      MachineStep(.confirmed, .stayed, .sendVerify)
    case .registerOk, .registerFailedTemporary, .registerFailedPermanent:
      MachineStep(.confirmed, .ignored(.stale))
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.confirmed, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.confirmed, .stayed, .saveCode, .sendVerify)
    case .verifyOk, .checkActive:
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .verifyFailedTemporary:
      MachineStep(.confirmed, .stayed, .scheduleRetry)
    case .checkDue:
      MachineStep(.confirmed, .stayed, .sendCheck)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant, .modePeriodic:
      MachineStep(.confirmed, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.active, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      MachineStep(.active, .stayed, .sendCheck)
    case .registerOk, .registerFailedTemporary, .registerFailedPermanent, .verifyFailedTemporary:
      MachineStep(.active, .ignored(.stale))
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.active, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification, .verifyOk:
      MachineStep(.active, .ignored(.alreadyActive))
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .checkDue:
      MachineStep(.active, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .stayed, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      // The server lost the proof: have it send a code.
      MachineStep(.registered, .moved, .sendRegister, .publishStatus)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant:
      MachineStep(.active, .stayed, .saveMode, .createSubscriptions)
    case .modePeriodic:
      MachineStep(.active, .stayed, .saveMode, .deleteSubscriptions)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepExpired(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.expired, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      MachineStep(.expired, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .registerFailedTemporary:
      MachineStep(.expired, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.expired, .stayed, .reportError)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.expired, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.expired, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.expired, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .checkDue:
      MachineStep(.expired, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .publishStatus)
    case .checkExpired:
      MachineStep(.expired, .stayed, .scheduleCheck)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant, .modePeriodic:
      MachineStep(.expired, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepInvalid(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalid, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      MachineStep(.invalid, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .registerFailedTemporary:
      MachineStep(.invalid, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalid, .stayed, .reportError)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalid, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.invalid, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalid, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .checkDue:
      MachineStep(.invalid, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .publishStatus)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .stayed, .scheduleCheck)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant, .modePeriodic:
      MachineStep(.invalid, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepInvalidBad(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidBad, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      MachineStep(.invalidBad, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .registerFailedTemporary:
      MachineStep(.invalidBad, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidBad, .stayed, .reportError)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidBad, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.invalidBad, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidBad, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .checkDue:
      MachineStep(.invalidBad, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .publishStatus)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .stayed, .scheduleCheck)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant, .modePeriodic:
      MachineStep(.invalidBad, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepInvalidTopic(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidTopic, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      MachineStep(.invalidTopic, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .registerFailedTemporary:
      MachineStep(.invalidTopic, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidTopic, .stayed, .reportError)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidTopic, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.invalidTopic, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidTopic, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .checkDue:
      MachineStep(.invalidTopic, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .publishStatus)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .stayed, .scheduleCheck)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant, .modePeriodic:
      MachineStep(.invalidTopic, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepInvalidExpired(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidExpired, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      MachineStep(.invalidExpired, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .registerFailedTemporary:
      MachineStep(.invalidExpired, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidExpired, .stayed, .reportError)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidExpired, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.invalidExpired, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidExpired, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .checkDue:
      MachineStep(.invalidExpired, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .publishStatus)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .stayed, .scheduleCheck)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .publishStatus)
    case .modeInstant, .modePeriodic:
      MachineStep(.invalidExpired, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
    }
  }

  @inline(__always)
  private static func stepInvalidUnregistered(_ event: Event) -> MachineStep<TokenStatus> {
    switch event {
    case .registerNewToken:
      MachineStep(.invalidUnregistered, .stayed, .saveDeviceToken, .sendReplace)
    case .registerSameToken:
      MachineStep(.invalidUnregistered, .stayed, .sendRegister)
    case .registerOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .registerFailedTemporary:
      MachineStep(.invalidUnregistered, .stayed, .scheduleRetry)
    case .registerFailedPermanent:
      MachineStep(.invalidUnregistered, .stayed, .reportError)
    case .replaceOk:
      MachineStep(.registered, .moved, .saveServerToken, .publishStatus)
    case .replaceFailedTemporary, .checkFailedTemporary:
      MachineStep(.invalidUnregistered, .stayed, .scheduleRetry)
    case .replaceFailedPermanent:
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .pushVerification:
      MachineStep(.invalidUnregistered, .refused(.tokenUnusable))
    case .verifyOk, .verifyFailedTemporary:
      MachineStep(.invalidUnregistered, .ignored(.stale))
    case .verifyAuthError, .checkAuthError:
      // The record is worth nothing to this server: begin again at once.
      MachineStep(.new, .moved, .forgetRecord, .createRecord, .sendRegister, .publishStatus)
    case .checkDue:
      MachineStep(.invalidUnregistered, .stayed, .sendCheck)
    case .checkActive:
      MachineStep(.active, .moved, .publishStatus, .sendInterval, .createSubscriptions, .scheduleCheck)
    case .checkUnverified:
      MachineStep(.registered, .moved, .publishStatus)
    case .checkExpired:
      MachineStep(.expired, .moved, .publishStatus)
    case .checkInvalidNoReason:
      MachineStep(.invalid, .moved, .publishStatus)
    case .checkInvalidBad:
      MachineStep(.invalidBad, .moved, .publishStatus)
    case .checkInvalidTopic:
      MachineStep(.invalidTopic, .moved, .publishStatus)
    case .checkInvalidExpired:
      MachineStep(.invalidExpired, .moved, .publishStatus)
    case .checkInvalidUnregistered:
      MachineStep(.invalidUnregistered, .stayed, .scheduleCheck)
    case .modeInstant, .modePeriodic:
      MachineStep(.invalidUnregistered, .stayed, .saveMode)
    case .delete:
      MachineStep(.none, .moved, .queueDelete, .deleteSubscriptions, .forgetRecord, .publishStatus)
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

/// Carries out the effects of `TokenStatus`, one method for each.
package protocol TokenStatusEffects {
  /// What the event came with.
  associatedtype Argument
  /// Choose a server, make the keys, and put the token on record.
  func createRecord(_ argument: Argument)
  /// Delete the token, its keys and its server from the record.
  func forgetRecord(_ argument: Argument)
  /// Put the new device token on record, beside the one that the server knows.
  func saveDeviceToken(_ argument: Argument)
  /// Ask the server to take the token (TNEW). Answer: register.
  func sendRegister(_ argument: Argument)
  /// Ask the server to take the new token in place of the old (TRPL). Answer: replace.
  func sendReplace(_ argument: Argument)
  /// Send the code on record (TVFY). Answer: verify.
  func sendVerify(_ argument: Argument)
  /// Ask for the status (TCHK). Answer: check.
  func sendCheck(_ argument: Argument)
  /// Ask for periodic wake-ups (TCRN), 20 minutes; no answer is waited for.
  func sendInterval(_ argument: Argument)
  /// Put the token among those the server must forget (TDEL), retried for 21 days.
  func queueDelete(_ argument: Argument)
  /// Put the id and the key that the server gave on record.
  func saveServerToken(_ argument: Argument)
  /// Put the verification code on record, so that it survives the process.
  func saveCode(_ argument: Argument)
  /// Put the mode on record.
  func saveMode(_ argument: Argument)
  /// Subscribe all connections, if the status on record is active and the mode is instant.
  func createSubscriptions(_ argument: Argument)
  /// Give up the subscriptions of all connections.
  func deleteSubscriptions(_ argument: Argument)
  /// Repeat the last request later, after a growing delay (INC-65, INC-68).
  func scheduleRetry(_ argument: Argument)
  /// Raise check.due in a day (INC-63).
  func scheduleCheck(_ argument: Argument)
  /// Tell the host what the server said.
  func reportError(_ argument: Argument)
  /// Put the status on record, and tell the host.
  func publishStatus(_ argument: Argument)
}

extension TokenStatus {
  /// Calls the effect's method.
  package static func perform<Performer: TokenStatusEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .createRecord: performer.createRecord(argument)
    case .forgetRecord: performer.forgetRecord(argument)
    case .saveDeviceToken: performer.saveDeviceToken(argument)
    case .sendRegister: performer.sendRegister(argument)
    case .sendReplace: performer.sendReplace(argument)
    case .sendVerify: performer.sendVerify(argument)
    case .sendCheck: performer.sendCheck(argument)
    case .sendInterval: performer.sendInterval(argument)
    case .queueDelete: performer.queueDelete(argument)
    case .saveServerToken: performer.saveServerToken(argument)
    case .saveCode: performer.saveCode(argument)
    case .saveMode: performer.saveMode(argument)
    case .createSubscriptions: performer.createSubscriptions(argument)
    case .deleteSubscriptions: performer.deleteSubscriptions(argument)
    case .scheduleRetry: performer.scheduleRetry(argument)
    case .scheduleCheck: performer.scheduleCheck(argument)
    case .reportError: performer.reportError(argument)
    case .publishStatus: performer.publishStatus(argument)
    }
  }
}
