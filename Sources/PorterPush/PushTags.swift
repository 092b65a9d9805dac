import PorterCrypto
import PorterPlatform

/// The tags of a message push, one at each of seven places: of a mailbox that it is about, or of none. The last one is
/// of none in every push, and so identifies the push's token. To the provider all are random.
package struct PushTags: Hashable, Sendable {
  package static let count = NotificationBundle.maximumEntries + 1
  /// In base64url.
  private static let textCount = (count * MailboxTag.count * 4 + 2) / 3

  /// As the push carries it; decoded only by a process that cannot open the push.
  let text: String

  package init(of bundle: NotificationBundle, nonce: BoxNonce, under key: MailboxTagKey) {
    var tags = bundle.entries.map { key.handle(of: $0.notifier).tag(nonce) }
    let pad = key.pad
    for place in tags.count..<Self.count { tags.append(pad.tag(nonce, place: place)) }
    text = TextEncoding.base64URL(tags.flatMap(\.bytes))
  }

  /// Nil if its length is not that of seven tags.
  init?(text: String) {
    guard text.utf8.count == Self.textCount else { return nil }
    self.text = text
  }

  /// All tags, in order; nil if the text is not base64url.
  package var all: [MailboxTag]? {
    guard let bytes = TextEncoding.base64URLDecoded(text), bytes.count == Self.count * MailboxTag.count else {
      return nil
    }
    return stride(from: 0, to: bytes.count, by: MailboxTag.count).compactMap {
      MailboxTag(bytes: bytes[$0..<$0 + MailboxTag.count])
    }
  }
}
