import PorterCrypto

/// The mailboxes for which nothing may be shown unless their message was opened: those the user has muted or hidden,
/// and those of chats that notify only of mentions. Listed by handle, for a process that cannot read the store. A
/// value.
///
/// It reveals neither how many they are nor which: handles of no mailbox fill it up to a power of two, sorted together
/// with the others. Without the key they are indistinguishable, and the same mailboxes make the same value.
package struct SilentMailboxes: Equatable, Sendable {
  private static let version: UInt8 = 1
  private static let header = Array("NPsilent".utf8) + [version]
  package static let leastCount = 64
  /// More than this are not kept, so that the file fits in an extension's memory.
  package static let mostCount = 131_072
  /// The largest file, in bytes.
  static let largestFile = header.count + (1 + mostCount) * MailboxHandle.count
  /// For mailboxes that are gone or have since changed their notifier; a push may still be about them.
  static let mostPast = 1_024

  let pad: MailboxHandle
  /// In ascending order.
  private let handles: [MailboxHandle]

  /// `past`: handles returned by `past(under:)` of an earlier value.
  init(_ silent: Set<MailboxHandle>, past: Set<MailboxHandle> = [], under key: MailboxTagKey) {
    pad = key.pad
    let silent = silent.count > Self.mostCount ? Set(silent.sorted().prefix(Self.mostCount)) : silent
    let past = past.subtracting(silent).sorted().prefix(min(Self.mostPast, Self.mostCount - silent.count))
    var all = silent.union(past)
    var count = Self.leastCount
    while count < all.count { count *= 2 }
    for index in 0..<(count - all.count) { all.insert(key.filler(index)) }
    handles = all.sorted()
  }

  /// The handles it contains besides `silent`: mailboxes that were silent and are no longer known, or no longer silent.
  /// Empty for a value of another token.
  func past(beside silent: Set<MailboxHandle>, under key: MailboxTagKey) -> Set<MailboxHandle> {
    guard pad == key.pad else { return [] }
    var past = Set(handles).subtracting(silent)
    for index in 0..<handles.count { past.remove(key.filler(index)) }
    return past
  }

  /// Without a token, no push can be opened.
  static let ofNoToken = SilentMailboxes()

  private init() {
    pad = .none
    handles = []
  }

  /// Whether nothing may be shown for a push with these tags: each belongs to a silent mailbox or to none, and not all
  /// to none. A push to an earlier token is also silenced. With the store, such a push does not open.
  package func silences(_ tags: [MailboxTag], nonce: BoxNonce) -> Bool {
    guard let last = tags.last else { return false }
    guard last == pad.tag(nonce, place: tags.count - 1) else { return true }
    var unknown = Set<MailboxTag>()
    for (place, tag) in tags.enumerated() where tag != pad.tag(nonce, place: place) { unknown.insert(tag) }
    guard !unknown.isEmpty else { return false }
    for handle in handles {
      unknown.remove(handle.tag(nonce))
      if unknown.isEmpty { return true }
    }
    return false
  }

  // MARK: As a file

  package var bytes: [UInt8] { Self.header + pad.bytes + handles.flatMap(\.bytes) }

  /// Nil if the bytes are not such a file.
  package init?(bytes: [UInt8]) {
    guard bytes.starts(with: Self.header) else { return nil }
    let body = bytes[Self.header.count...]
    guard body.count % MailboxHandle.count == 0 else { return nil }
    let all = stride(from: body.startIndex, to: body.endIndex, by: MailboxHandle.count).compactMap {
      MailboxHandle(bytes: body[$0..<$0 + MailboxHandle.count])
    }
    guard let pad = all.first else { return nil }
    let handles = Array(all.dropFirst())
    guard handles.isEmpty ? pad == .none : (Self.leastCount...Self.mostCount).contains(handles.count),
      handles.count & (handles.count - 1) == 0, zip(handles, handles.dropFirst()).allSatisfy({ $0 < $1 })
    else { return nil }
    self.pad = pad
    self.handles = handles
  }
}
