import PorterPlatform

/// A chat makes one sound in 30 s, however many messages arrive and whichever process shows them. Time is measured
/// since boot: a step of the wall clock makes no chat loud, and none silent (INC-14).
package struct SoundRule: Hashable, Sendable {
  package static let quiet = Span.seconds(30)
  /// Used instead of a chat for a contact not known yet. No chat has this number.
  package static let unknown: Int64 = 0

  private let now: Moment
  private var last: [Int64: Moment]
  /// The chats that make a sound now, to be stored.
  package private(set) var sounding: [Int64] = []

  /// `last` has the last sounds of chats since boot.
  package init(last: [Int64: Moment], now: Moment) {
    self.last = last
    self.now = now
  }

  /// Whether the chat made a sound less than 30 s ago.
  package func isQuiet(_ chat: Int64) -> Bool { last[chat].map { now - $0 < Self.quiet } ?? false }

  /// Whether something of a chat makes a sound; nil is a contact not known yet, and all of these make one sound
  /// together. `mayHavePlaceholder`: its placeholder may have made a sound before the contact was known.
  package mutating func takeSound(of chat: Int64?, mayHavePlaceholder: Bool) -> Bool {
    if mayHavePlaceholder, isQuiet(Self.unknown) { return false }
    return takeSound(for: [chat ?? Self.unknown])
  }

  /// Whether a notification about these chats makes a sound: if one of them may. The sound then counts for the chats
  /// that may.
  package mutating func takeSound(for chats: [Int64]) -> Bool {
    // A set only where one is needed: mostly there is one chat.
    let free = chats.count > 1 ? Set(chats).filter { !isQuiet($0) }.sorted() : chats.filter { !isQuiet($0) }
    for chat in free { last[chat] = now }
    sounding += free
    return !free.isEmpty
  }
}
