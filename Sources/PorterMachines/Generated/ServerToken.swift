// Generated from spec/machines/server_token.scxml by porter-machines: change that file, run `make spec`.

/// A device token as the notification server knows it. A token is used only after a code pushed to it has come back, so
/// that no client can register another client's device.
package enum ServerToken: Machine {
  package enum State: UInt8, MachineCode {
    /// There is no such token.
    case none
    /// Stored; the code is on its way to the provider.
    case registered
    /// The provider accepted the code; the client has not sent it back yet.
    case confirmed
    /// Proven: messages are pushed to it.
    case active
    /// Not used for so long that its device is presumed out of use.
    case expired
    /// The provider reports that this is not a token.
    case invalidBad
    /// It belongs to another app.
    case invalidTopic
    /// The provider reports that it has expired.
    case invalidExpired
    /// The app was removed from the device.
    case invalidUnregistered

    package var name: String {
      switch self {
      case .none: "none"
      case .registered: "registered"
      case .confirmed: "confirmed"
      case .active: "active"
      case .expired: "expired"
      case .invalidBad: "invalidBad"
      case .invalidTopic: "invalidTopic"
      case .invalidExpired: "invalidExpired"
      case .invalidUnregistered: "invalidUnregistered"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// TNEW for a token that is not stored.
    case register
    /// TNEW for a stored token, with the same keys.
    case registerAgain
    /// TNEW for a stored token, with other keys.
    case registerOther
    /// The provider accepted the verification push.
    case pushAccepted
    /// The provider answers BadDeviceToken.
    case pushInvalidBad
    /// The provider answers DeviceTokenNotForTopic.
    case pushInvalidTopic
    /// The provider answers ExpiredToken.
    case pushInvalidExpired
    /// The provider answers Unregistered.
    case pushInvalidUnregistered
    /// TVFY with the code that was sent.
    case verifyMatch
    /// TVFY with another code.
    case verifyMismatch
    /// TCHK.
    case check
    /// TRPL with a new device token.
    case replace
    /// TCRN with 0, or with 20 minutes or more.
    case setInterval
    /// TCRN with 1 to 19 minutes.
    case setIntervalTooShort
    /// SNEW or SCHK.
    case subscribe
    /// A mailbox that the token watches received a message.
    case message
    /// The interval of periodic wake-ups has elapsed.
    case wakeDue
    /// The token has not been used for so long that its device is presumed out of use.
    case stale
    /// TDEL.
    case delete
    /// SDEL.
    case unsubscribe
    /// TNEW for a token that is not stored, when the server has as many as it keeps.
    case registerTooMany
    /// The client of a token that gets no pushes has not been in contact for so long that it is given up.
    case forget

    package var name: String {
      switch self {
      case .register: "register"
      case .registerAgain: "registerAgain"
      case .registerOther: "registerOther"
      case .pushAccepted: "push.accepted"
      case .pushInvalidBad: "push.invalid.bad"
      case .pushInvalidTopic: "push.invalid.topic"
      case .pushInvalidExpired: "push.invalid.expired"
      case .pushInvalidUnregistered: "push.invalid.unregistered"
      case .verifyMatch: "verify.match"
      case .verifyMismatch: "verify.mismatch"
      case .check: "check"
      case .replace: "replace"
      case .setInterval: "setInterval"
      case .setIntervalTooShort: "setIntervalTooShort"
      case .subscribe: "subscribe"
      case .message: "message"
      case .wakeDue: "wakeDue"
      case .stale: "stale"
      case .delete: "delete"
      case .unsubscribe: "unsubscribe"
      case .registerTooMany: "registerTooMany"
      case .forget: "forget"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Store the token, with a new key and a new code.
    case createToken
    /// Store the new device token and a new code; subscriptions stay.
    case replaceToken
    /// Delete the token.
    case deleteToken
    /// Delete other records of the same device token.
    case deleteOthers
    /// Delete the token's subscriptions.
    case deleteSubscriptions
    /// Push the code, encrypted. Answer: push.
    case sendVerification
    /// Push the last notifications, encrypted. Answer: push.
    case sendMessage
    /// Push a wake-up. Answer: push.
    case sendWake
    /// Store the interval.
    case saveInterval
    /// Store the status.
    case saveStatus
    /// Answer with the token's id and key (IDTKN).
    case replyToken
    /// Answer with the status (TKN).
    case replyStatus
    /// Answer OK.
    case replyOk
    /// Carry out the subscription command.
    case admitSubscription

    package var name: String {
      switch self {
      case .createToken: "createToken"
      case .replaceToken: "replaceToken"
      case .deleteToken: "deleteToken"
      case .deleteOthers: "deleteOthers"
      case .deleteSubscriptions: "deleteSubscriptions"
      case .sendVerification: "sendVerification"
      case .sendMessage: "sendMessage"
      case .sendWake: "sendWake"
      case .saveInterval: "saveInterval"
      case .saveStatus: "saveStatus"
      case .replyToken: "replyToken"
      case .replyStatus: "replyStatus"
      case .replyOk: "replyOk"
      case .admitSubscription: "admitSubscription"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case auth
    case noToken
    case quota
    case notActive
    case alreadyConfirmed
    case alreadyActive
    case late
    case alreadyExpired
    case alreadyInvalid

    package var name: String {
      switch self {
      case .auth: "auth"
      case .noToken: "noToken"
      case .quota: "quota"
      case .notActive: "notActive"
      case .alreadyConfirmed: "alreadyConfirmed"
      case .alreadyActive: "alreadyActive"
      case .late: "late"
      case .alreadyExpired: "alreadyExpired"
      case .alreadyInvalid: "alreadyInvalid"
      }
    }
  }

  package static var name: String { "server_token" }

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
  package static func step(_ state: State, _ event: Event) -> MachineStep<ServerToken> {
    switch state {
    case .none: stepNone(event)
    case .registered: stepRegistered(event)
    case .confirmed: stepConfirmed(event)
    case .active: stepActive(event)
    case .expired: stepExpired(event)
    case .invalidBad: stepInvalidBad(event)
    case .invalidTopic: stepInvalidTopic(event)
    case .invalidExpired: stepInvalidExpired(event)
    case .invalidUnregistered: stepInvalidUnregistered(event)
    }
  }

  @inline(__always)
  private static func stepNone(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register:
      MachineStep(.registered, .moved, .createToken, .sendVerification, .replyToken)
    case .registerAgain, .registerOther, .verifyMatch, .verifyMismatch, .check, .replace,
      .setInterval, .setIntervalTooShort, .subscribe, .delete, .unsubscribe:
      MachineStep(.none, .refused(.auth))
    case .pushAccepted, .pushInvalidBad, .pushInvalidTopic, .pushInvalidExpired,
      .pushInvalidUnregistered, .message, .wakeDue, .stale, .forget:
      MachineStep(.none, .ignored(.noToken))
    case .registerTooMany:
      MachineStep(.none, .refused(.quota))
    }
  }

  @inline(__always)
  private static func stepRegistered(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.registered, .refused(.auth))
    case .registerAgain:
      // The same code, since the first push may have been lost.
      MachineStep(.registered, .stayed, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.confirmed, .moved, .saveStatus)
    case .pushInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus)
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus)
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus)
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .saveStatus)
    case .verifyMatch:
      MachineStep(.active, .moved, .saveStatus, .deleteOthers, .replyOk)
    case .check:
      MachineStep(.registered, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .stayed, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.registered, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.registered, .refused(.quota))
    case .subscribe:
      MachineStep(.registered, .refused(.auth))
    case .message, .wakeDue:
      MachineStep(.registered, .ignored(.notActive))
    case .stale:
      MachineStep(.expired, .moved, .saveStatus)
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.registered, .stayed, .admitSubscription)
    case .forget:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken)
    }
  }

  @inline(__always)
  private static func stepConfirmed(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.confirmed, .refused(.auth))
    case .registerAgain:
      // The same code, since the first push may have been lost.
      MachineStep(.confirmed, .stayed, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.confirmed, .ignored(.alreadyConfirmed))
    case .pushInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus)
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus)
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus)
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .saveStatus)
    case .verifyMatch:
      MachineStep(.active, .moved, .saveStatus, .deleteOthers, .replyOk)
    case .check:
      MachineStep(.confirmed, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .moved, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.confirmed, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.confirmed, .refused(.quota))
    case .subscribe:
      MachineStep(.confirmed, .refused(.auth))
    case .message, .wakeDue:
      MachineStep(.confirmed, .ignored(.notActive))
    case .stale:
      MachineStep(.expired, .moved, .saveStatus)
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.confirmed, .stayed, .admitSubscription)
    case .forget:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.active, .refused(.auth))
    case .registerAgain:
      // The same code, since the first push may have been lost.
      MachineStep(.active, .stayed, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.active, .ignored(.alreadyActive))
    case .pushInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus)
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus)
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus)
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .saveStatus)
    case .verifyMatch:
      MachineStep(.active, .stayed, .replyOk)
    case .check:
      MachineStep(.active, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .moved, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.active, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.active, .refused(.quota))
    case .subscribe:
      MachineStep(.active, .stayed, .admitSubscription)
    case .message:
      MachineStep(.active, .stayed, .sendMessage)
    case .wakeDue:
      MachineStep(.active, .stayed, .sendWake)
    case .stale:
      MachineStep(.expired, .moved, .saveStatus)
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.active, .stayed, .admitSubscription)
    case .forget:
      // It expires before.
      MachineStep(.active, .ignored(.alreadyActive))
    }
  }

  @inline(__always)
  private static func stepExpired(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.expired, .refused(.auth))
    case .registerAgain:
      MachineStep(.registered, .moved, .saveStatus, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.expired, .ignored(.late))
    case .pushInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus)
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus)
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus)
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .saveStatus)
    case .verifyMatch:
      MachineStep(.expired, .refused(.auth))
    case .check:
      MachineStep(.expired, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .moved, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.expired, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.expired, .refused(.quota))
    case .subscribe:
      // Subscriptions outlive a token that will soon be replaced.
      MachineStep(.expired, .stayed, .admitSubscription)
    case .message, .wakeDue:
      MachineStep(.expired, .ignored(.notActive))
    case .stale:
      MachineStep(.expired, .ignored(.alreadyExpired))
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.expired, .stayed, .admitSubscription)
    case .forget:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken)
    }
  }

  @inline(__always)
  private static func stepInvalidBad(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.invalidBad, .refused(.auth))
    case .registerAgain:
      MachineStep(.registered, .moved, .saveStatus, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.invalidBad, .ignored(.late))
    case .pushInvalidBad:
      MachineStep(.invalidBad, .ignored(.alreadyInvalid))
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus)
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus)
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .saveStatus)
    case .verifyMatch:
      MachineStep(.invalidBad, .refused(.auth))
    case .check:
      MachineStep(.invalidBad, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .moved, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.invalidBad, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.invalidBad, .refused(.quota))
    case .subscribe:
      // Subscriptions outlive a token that will soon be replaced.
      MachineStep(.invalidBad, .stayed, .admitSubscription)
    case .message, .wakeDue:
      MachineStep(.invalidBad, .ignored(.notActive))
    case .stale:
      MachineStep(.expired, .moved, .saveStatus)
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.invalidBad, .stayed, .admitSubscription)
    case .forget:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken)
    }
  }

  @inline(__always)
  private static func stepInvalidTopic(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.invalidTopic, .refused(.auth))
    case .registerAgain:
      MachineStep(.registered, .moved, .saveStatus, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.invalidTopic, .ignored(.late))
    case .pushInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus)
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .ignored(.alreadyInvalid))
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus)
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .saveStatus)
    case .verifyMatch:
      MachineStep(.invalidTopic, .refused(.auth))
    case .check:
      MachineStep(.invalidTopic, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .moved, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.invalidTopic, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.invalidTopic, .refused(.quota))
    case .subscribe:
      // Subscriptions outlive a token that will soon be replaced.
      MachineStep(.invalidTopic, .stayed, .admitSubscription)
    case .message, .wakeDue:
      MachineStep(.invalidTopic, .ignored(.notActive))
    case .stale:
      MachineStep(.expired, .moved, .saveStatus)
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.invalidTopic, .stayed, .admitSubscription)
    case .forget:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken)
    }
  }

  @inline(__always)
  private static func stepInvalidExpired(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.invalidExpired, .refused(.auth))
    case .registerAgain:
      MachineStep(.registered, .moved, .saveStatus, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.invalidExpired, .ignored(.late))
    case .pushInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus)
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus)
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .ignored(.alreadyInvalid))
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .moved, .saveStatus)
    case .verifyMatch:
      MachineStep(.invalidExpired, .refused(.auth))
    case .check:
      MachineStep(.invalidExpired, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .moved, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.invalidExpired, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.invalidExpired, .refused(.quota))
    case .subscribe:
      // Subscriptions outlive a token that will soon be replaced.
      MachineStep(.invalidExpired, .stayed, .admitSubscription)
    case .message, .wakeDue:
      MachineStep(.invalidExpired, .ignored(.notActive))
    case .stale:
      MachineStep(.expired, .moved, .saveStatus)
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.invalidExpired, .stayed, .admitSubscription)
    case .forget:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken)
    }
  }

  @inline(__always)
  private static func stepInvalidUnregistered(_ event: Event) -> MachineStep<ServerToken> {
    switch event {
    case .register, .registerOther, .verifyMismatch, .registerTooMany:
      MachineStep(.invalidUnregistered, .refused(.auth))
    case .registerAgain:
      MachineStep(.registered, .moved, .saveStatus, .sendVerification, .replyToken)
    case .pushAccepted:
      MachineStep(.invalidUnregistered, .ignored(.late))
    case .pushInvalidBad:
      MachineStep(.invalidBad, .moved, .saveStatus)
    case .pushInvalidTopic:
      MachineStep(.invalidTopic, .moved, .saveStatus)
    case .pushInvalidExpired:
      MachineStep(.invalidExpired, .moved, .saveStatus)
    case .pushInvalidUnregistered:
      MachineStep(.invalidUnregistered, .ignored(.alreadyInvalid))
    case .verifyMatch:
      MachineStep(.invalidUnregistered, .refused(.auth))
    case .check:
      MachineStep(.invalidUnregistered, .stayed, .replyStatus)
    case .replace:
      MachineStep(.registered, .moved, .replaceToken, .sendVerification, .replyToken)
    case .setInterval:
      MachineStep(.invalidUnregistered, .stayed, .saveInterval, .replyOk)
    case .setIntervalTooShort:
      MachineStep(.invalidUnregistered, .refused(.quota))
    case .subscribe:
      // Subscriptions outlive a token that will soon be replaced.
      MachineStep(.invalidUnregistered, .stayed, .admitSubscription)
    case .message, .wakeDue:
      MachineStep(.invalidUnregistered, .ignored(.notActive))
    case .stale:
      MachineStep(.expired, .moved, .saveStatus)
    case .delete:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken, .replyOk)
    case .unsubscribe:
      // Also while a code is on its way: the client does not ask again when the token is proven.
      MachineStep(.invalidUnregistered, .stayed, .admitSubscription)
    case .forget:
      MachineStep(.none, .moved, .deleteSubscriptions, .deleteToken)
    }
  }
}

extension MachineRunner where M == ServerToken {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: ServerToken.Event) -> MachineStep<ServerToken> {
    let step = ServerToken.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `ServerToken`, one method for each.
package protocol ServerTokenEffects {
  /// The event's data.
  associatedtype Argument
  /// Store the token, with a new key and a new code.
  func createToken(_ argument: Argument)
  /// Store the new device token and a new code; subscriptions stay.
  func replaceToken(_ argument: Argument)
  /// Delete the token.
  func deleteToken(_ argument: Argument)
  /// Delete other records of the same device token.
  func deleteOthers(_ argument: Argument)
  /// Delete the token's subscriptions.
  func deleteSubscriptions(_ argument: Argument)
  /// Push the code, encrypted. Answer: push.
  func sendVerification(_ argument: Argument)
  /// Push the last notifications, encrypted. Answer: push.
  func sendMessage(_ argument: Argument)
  /// Push a wake-up. Answer: push.
  func sendWake(_ argument: Argument)
  /// Store the interval.
  func saveInterval(_ argument: Argument)
  /// Store the status.
  func saveStatus(_ argument: Argument)
  /// Answer with the token's id and key (IDTKN).
  func replyToken(_ argument: Argument)
  /// Answer with the status (TKN).
  func replyStatus(_ argument: Argument)
  /// Answer OK.
  func replyOk(_ argument: Argument)
  /// Carry out the subscription command.
  func admitSubscription(_ argument: Argument)
}

extension ServerToken {
  /// Calls the effect's method.
  package static func perform<Performer: ServerTokenEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .createToken: performer.createToken(argument)
    case .replaceToken: performer.replaceToken(argument)
    case .deleteToken: performer.deleteToken(argument)
    case .deleteOthers: performer.deleteOthers(argument)
    case .deleteSubscriptions: performer.deleteSubscriptions(argument)
    case .sendVerification: performer.sendVerification(argument)
    case .sendMessage: performer.sendMessage(argument)
    case .sendWake: performer.sendWake(argument)
    case .saveInterval: performer.saveInterval(argument)
    case .saveStatus: performer.saveStatus(argument)
    case .replyToken: performer.replyToken(argument)
    case .replyStatus: performer.replyStatus(argument)
    case .replyOk: performer.replyOk(argument)
    case .admitSubscription: performer.admitSubscription(argument)
    }
  }
}
