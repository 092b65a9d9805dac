import Foundation
import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore
import PropertyTesting
import XCTest

@testable import PorterEngine

/// Changes that arrive before their message, twice, or from the wrong side; and the counts after each of them.
final class ReceivedChangesTests: XCTestCase {
  private struct Chat {
    let store: Store
    let userID: Int64
    let contactID: Int64
    let connectionID: Int64
    let start = WallTime(milliseconds: 1_700_000_000_000)
    var number: Int64 = 0

    init(at prefix: String) throws {
      store = try Store.open(at: StoreLocation(prefix: prefix), confirmation: .yesUp, mayMigrate: true)
      userID = try store.createUser(displayName: "alice", fullName: "", at: start).id
      let keys = try (SigningKeyPair.generate(randomness: SystemRandomness()), [UInt8](repeating: 1, count: 24))
      (contactID, connectionID) = try store.transaction { [store, userID, start] () throws(StoreError) in
        let contact = try store.insertContact(userID: userID, displayName: "bob", fullName: "", at: start)
        let connection = try store.insertConnection(
          NewConnection(
            userID: userID, contactID: contact, agentID: keys.1, status: "ready", isInitiated: true,
            recipientID: keys.1, recipientKey: keys.0, senderID: keys.1, isSecured: true, peerSenderID: keys.1,
            peerKey: keys.0, invitation: nil, link: nil), at: start)
        return (contact, connection)
      }
    }

    /// All members: an item's own description is only its number.
    private static func members(of item: StoredItem) -> String {
      var text = ""
      dump(item, to: &text)
      return text
    }

    /// Receives as the committer does: the message's content, and its entry in the ledger.
    @discardableResult
    mutating func receive(
      hours: Int64 = 0, receivedAt: WallTime? = nil,
      _ change: (ReceivedChanges) throws(StoreError) -> OpenedMessage.Content
    ) throws -> OpenedMessage.Content {
      number += 1
      let time = WallTime(milliseconds: start.milliseconds + number * 1_000 + hours * 3_600_000)
      let received = ReceivedChanges(
        store: store, contactID: contactID, userID: userID, contact: nil, user: nil, incognito: nil, relayedAt: time,
        now: receivedAt ?? time, log: .silent
      ) { [store] (item) throws(StoreError) in try store.markDeleted(item, at: time) { _ in nil } }
      return try store.transaction { () throws(StoreError) in
        let content = try change(received)
        switch content {
        case .item(let item):
          let stored = try store.item(item.id)
          XCTAssertEqual(Self.members(of: item), Self.members(of: stored), "it is reported as it is stored")
          try store.enter(
            NewLedgerEntry(
              connectionID: connectionID, messageID: Array("\(number)".utf8), messageAt: time, kind: .message,
              contactID: contactID,
              itemID: item.id), after: [], mentionsUser: item.mentionsUser, at: receivedAt ?? time)
        case .changed(let change, let contactID):
          try store.enter(
            NewLedgerEntry(
              connectionID: connectionID, messageID: Array("\(number)".utf8), messageAt: time, kind: .changed,
              contactID: contactID,
              detail: change.stored), after: [.read], at: time)
        default: break
        }
        return content
      }
    }

    func items() throws -> [StoredItem] { try store.items(contactID: contactID, page: .last(count: 100)) }
    func texts() throws -> [String] { try items().map { ChatItemRecord($0).content.text } }
    var unread: Int64 { get throws { try store.user(userID).unread } }

    func message(
      _ text: String, _ id: UInt8, sentAt: WallTime? = nil, mentions: [String] = [], secondsToLive: Int64? = nil
    ) -> ChatMessage.Content {
      ChatMessage.Content(
        content: .text(text), sharedID: [id], sentAt: sentAt ?? start, quote: nil,
        traits: MessageTraits(secondsToLive: secondsToLive, mentions: mentions))
    }
    func edit(_ text: String, _ id: UInt8) -> ChatMessage.Edit {
      ChatMessage.Edit(sharedID: [id], content: .text(text))
    }
  }

  private func withChat(_ body: (inout Chat) throws -> Void) throws {
    let folder = try TemporaryFolder()
    var chat = try Chat(at: folder.file("alice"))
    defer { try? chat.store.close(checkpoint: false) }
    try body(&chat)
  }

  private func reason(_ content: OpenedMessage.Content) -> String? {
    if case .quarantined(let reason) = content { reason } else { nil }
  }

  func testAnEditThatOvertakesItsMessageIsShownOnce() throws {
    try withChat { chat in
      let (edit, message) = (chat.edit("second", 7), chat.message("first", 7))
      try chat.receive { (changes) throws(StoreError) in try changes.edit(edit) }
      XCTAssertEqual(try chat.texts(), ["second"])
      let late = try chat.receive { (changes) throws(StoreError) in try changes.insert(message) }
      guard case .changed(.edited, _) = late else { return XCTFail("\(late)") }
      XCTAssertEqual(try chat.texts(), ["second"], "the later text stands")
      XCTAssertEqual(try chat.unread, 1)
      XCTAssertEqual(try chat.store.entriesToPresent(limit: 9).count, 1, "one notification")
      XCTAssertEqual(try chat.items().first?.itemAt, chat.start, "at its own place in the chat")
    }
  }

  /// The message has only grown: its last text is that of a message that is no longer live.
  func testAGrowthThatOvertakesItsLiveMessageIsNoEdit() throws {
    try withChat { chat in
      for (text, isLive, isEdited) in [("hel", true, false), ("hello", false, false), ("hello!", false, true)] {
        var edit = chat.edit(text, 7)
        edit.traits.isLive = isLive
        try chat.receive { (changes) throws(StoreError) in try changes.edit(edit) }
        XCTAssertEqual(try chat.texts(), [text])
        XCTAssertEqual(try chat.items().map(\.isEdited), [isEdited], text)
      }
    }
  }

  func testADeletionThatOvertakesItsMessageLeavesNothing() throws {
    try withChat { chat in
      try chat.receive { (changes) throws(StoreError) in try changes.remove([7]) }
      let message = chat.message("never to be seen", 7)
      try chat.receive { (changes) throws(StoreError) in try changes.insert(message) }
      XCTAssertEqual(try chat.texts(), [])
      XCTAssertEqual(try chat.unread, 0)
      XCTAssertEqual(try chat.store.entriesToPresent(limit: 9).count, 0)
    }
  }

  func testAReactionThatOvertakesItsMessageIsThereWithIt() throws {
    try withChat { chat in
      let reaction = ChatMessage.Reaction(sharedID: [7], reaction: .emoji("👍"), isAdded: true)
      try chat.receive { (changes) throws(StoreError) in try changes.react(reaction) }
      let message = chat.message("hello", 7)
      try chat.receive { (changes) throws(StoreError) in try changes.insert(message) }
      XCTAssertEqual(
        try chat.items().map { ChatItemRecord($0).reactions },
        [[ReactionCount(reaction: .emoji("👍"), userReacted: false, total: 1)]])
    }
  }

  /// A contact cannot fill the store with reactions to messages that never arrive.
  func testReactionsToNothingAreBounded() throws {
    try withChat { chat in
      var reasons = Set<String>()
      for id in 0..<UInt8(120) {
        let reaction = ChatMessage.Reaction(sharedID: [id], reaction: .emoji("👍"), isAdded: true)
        let content = try chat.receive { (changes) throws(StoreError) in try changes.react(reaction) }
        reasons.formUnion([reason(content)].compactMap { $0 })
      }
      XCTAssertEqual(reasons, ["reaction: tooManyReactions"])
      XCTAssertEqual(try chat.store.reactionsWithoutItem(contactID: chat.contactID), 100)
    }
  }

  func testChangesOfTheUsersOwnMessagesAreQuarantined() throws {
    try withChat { chat in
      let (contactID, start) = (chat.contactID, chat.start)
      try chat.store.transaction { [store = chat.store] () throws(StoreError) in
        _ = try store.insertSentItem(
          contactID: contactID, content: MessageContent.text("mine").json.text, sharedID: [9], itemAt: start, at: start,
          moment: BootMoment(boot: "boot", moment: Moment(nanoseconds: 0)))
      }
      let edit = chat.edit("forged", 9)
      let edited = try chat.receive { (changes) throws(StoreError) in try changes.edit(edit) }
      XCTAssertEqual(reason(edited), "edit: notTheAuthor")
      let removed = try chat.receive { (changes) throws(StoreError) in try changes.remove([9]) }
      XCTAssertEqual(reason(removed), "deletion: notTheAuthor")
      XCTAssertEqual(try chat.texts(), ["mine"])
      let theirs = chat.message("theirs", 8)
      try chat.receive { (changes) throws(StoreError) in try changes.insert(theirs) }
      let confirmed = try chat.receive { (changes) throws(StoreError) in try changes.confirm([8]) }
      XCTAssertEqual(reason(confirmed), "receipt: notTheAuthor")
    }
  }

  /// The contact's receipt may be faster than the relay's answer.
  func testAReceiptIsNotOverwrittenByTheRelaysAnswer() throws {
    try withChat { chat in
      let (store, start, contactID, connectionID) = (chat.store, chat.start, chat.contactID, chat.connectionID)
      let item = try store.transaction { () throws(StoreError) in
        let item = try store.insertSentItem(
          contactID: contactID, content: MessageContent.text("mine").json.text, sharedID: [9], itemAt: start, at: start,
          moment: BootMoment(boot: "boot", moment: Moment(nanoseconds: 0)))
        _ = try store.insertOutbox(
          connectionID: connectionID, itemID: item, purpose: "message", isSigned: true, notifies: true, body: [1],
          deduplication: [1])
        return item
      }
      let received = try chat.receive { (changes) throws(StoreError) in try changes.confirm([9]) }
      guard case .changed(.statusChanged, _) = received else { return XCTFail("\(received)") }
      let entry = try XCTUnwrap(try store.outboxEntry(try XCTUnwrap(try store.outboxEntries(after: 0).first).id))
      let isFinished = try store.transaction { () throws(StoreError) in
        try store.finishOutbox(entry, itemStatus: "sndSent", at: start)
      }
      XCTAssertTrue(isFinished)
      XCTAssertEqual(try store.item(item).status, "sndRcvd")
      // A second receipt changes nothing, and is not reported.
      let again = try chat.receive { (changes) throws(StoreError) in try changes.confirm([9]) }
      guard case .nothingToShow = again else { return XCTFail("\(again)") }
    }
  }

  /// Another process reads a change from the ledger exactly as it was made; nothing is left of a deleted text.
  func testAChangeIsReadFromTheLedgerAsItWasWritten() throws {
    try withChat { chat in
      let message = chat.message("secret", 7)
      try chat.receive { (changes) throws(StoreError) in try changes.insert(message) }
      let item = try XCTUnwrap(try chat.items().first)
      let removed = ItemChange.RemovedItem(item)
      let time = WallTime(milliseconds: 5)
      for change in [
        ItemChange.edited(itemID: 3), .statusChanged(itemID: 4), .sent(itemID: 5), .removed(removed, isKept: false),
        .removed(removed, isKept: true), .reacted(itemID: 5, .emoji("👍"), isAdded: false, at: time),
        .disappeared([removed, removed]),
      ] {
        let read = try XCTUnwrap(ItemChange(stored: change.stored))
        XCTAssertEqual(read.stored, change.stored)
        XCTAssertFalse(change.stored.contains("secret"))
        if case .removed(let item, _) = read {
          XCTAssertEqual(item.record().content, .text(""))
          XCTAssertEqual(item.record().sharedID, removed.record().sharedID)
          XCTAssertEqual(removed.record().content, .text("secret"))
        }
      }
      for bad in ["", "{}", #"{"removed":1,"kept":true}"#, #"{"reacted":1,"added":true}"#] {
        XCTAssertNil(ItemChange(stored: bad))
      }
    }
  }

  func testALateDeletionIsQuarantined() throws {
    try withChat { chat in
      let message = chat.message("old", 7)
      try chat.receive { (changes) throws(StoreError) in try changes.insert(message) }
      let late = try chat.receive(hours: 79) { (changes) throws(StoreError) in try changes.remove([7]) }
      XCTAssertEqual(reason(late), "deletion: tooOld")
      XCTAssertEqual(try chat.texts(), ["old"])
    }
  }

  /// The sender's clock is a year behind, or a year ahead: the age of its message is counted by the relay.
  func testADeletionIsInTimeWhateverTheSendersClockSays() throws {
    for days in [-365, 365] as [Int64] {
      try withChat { chat in
        let wrong = WallTime(milliseconds: chat.start.milliseconds + days * 86_400_000)
        let messages = [chat.message("one", 7, sentAt: wrong), chat.message("two", 8, sentAt: wrong)]
        for message in messages { try chat.receive { (changes) throws(StoreError) in try changes.insert(message) } }
        let soon = try chat.receive(hours: 77) { (changes) throws(StoreError) in try changes.remove([7]) }
        XCTAssertNil(reason(soon), "\(days) days off")
        let late = try chat.receive(hours: 78) { (changes) throws(StoreError) in try changes.remove([8]) }
        XCTAssertEqual(reason(late), "deletion: tooOld", "\(days) days off")
        XCTAssertEqual(try chat.items().map { $0.deletedAt != nil }, [true, false], "\(days) days off")
      }
    }
  }

  func testANewMessageMovesItsChatUpWhateverTheSendersClockSays() throws {
    try withChat { chat in
      let first = chat.message("one", 7)
      try chat.receive { (changes) throws(StoreError) in try changes.insert(first) }
      let before = try chat.store.contact(chat.contactID).chatAt
      let behind = WallTime(milliseconds: chat.start.milliseconds - 365 * 86_400_000)
      let second = chat.message("two", 8, sentAt: behind)
      try chat.receive(hours: 1) { (changes) throws(StoreError) in try changes.insert(second) }
      XCTAssertGreaterThan(try chat.store.contact(chat.contactID).chatAt, before)
      XCTAssertEqual(try chat.items().last?.itemAt, behind, "its own time is shown as it was sent")
    }
  }

  /// The relay says that it took a message in ten years: its chat is not above all others until then.
  func testAMessageFromTheFutureDoesNotKeepItsChatUp() throws {
    try withChat { chat in
      let message = chat.message("one", 7)
      try chat.receive(hours: 87_600, receivedAt: chat.start) { (changes) throws(StoreError) in
        try changes.insert(message)
      }
      let day = WallTime(milliseconds: chat.start.milliseconds + 86_400_000)
      XCTAssertEqual(try chat.store.contact(chat.contactID).chatAt, day)
    }
  }

  /// For example sent by the holder of an unused invitation.
  func testMessagesThatDoNotOpenAreBounded() throws {
    try withChat { chat in
      for number in 0..<300 {
        try chat.store.transaction { [chat] () throws(StoreError) in
          try chat.store.quarantine(
            connectionID: chat.connectionID, messageID: Array("junk \(number)".utf8), messageAt: chat.start,
            reason: "no ratchet", body: [1], at: chat.start)
        }
      }
      let entries = try chat.store.ledgerEntries(after: 0, through: .max)
      XCTAssertEqual(entries.map(\.messageID), (172..<300).map { Array("junk \($0)".utf8) }, "the newest")
    }
  }

  /// What one side sends, the other reads.
  func testWireForms() throws {
    let traits = MessageTraits(isLive: true, secondsToLive: 30, mentions: ["bob b"])
    let messages: [ChatMessage] = [
      .content(
        ChatMessage.Content(
          content: .text("a"), sharedID: [1], sentAt: WallTime(milliseconds: 1_000), quote: nil, traits: traits)),
      .edit(ChatMessage.Edit(sharedID: [1, 2], content: .text("b"), traits: traits)), .removal(sharedID: [1, 2]),
      .reaction(ChatMessage.Reaction(sharedID: [3], reaction: .emoji("🚀"), isAdded: false)),
      .receipt(sharedID: [4]),
    ]
    for message in messages { XCTAssertEqual(ChatMessage(bytes: message.bytes), message) }
    let long = TextEncoding.base64URL([UInt8](repeating: 0, count: 65))
    for bad in [
      #"{"event":"x.msg.del","params":{}}"#, #"{"event":"x.msg.del","params":{"msgId":"!"}}"#,
      #"{"event":"x.msg.del","params":{"msgId":""}}"#, #"{"event":"x.msg.rcpt","params":{"msgId":"\#(long)"}}"#,
      #"{"event":"x.msg.update","params":{"msgId":"AA"}}"#,
      // A message that nothing could refer to.
      #"{"event":"x.msg.new","msgId":"","params":{"content":{"type":"text","text":"a"}}}"#,
      #"{"event":"x.msg.new","msgId":"\#(long)","params":{"content":{"type":"text","text":"a"}}}"#,
      #"{"event":"x.msg.react","params":{"msgId":"AA","add":true,"reaction":{}}}"#,
      #"{"event":"x.msg.react","params":{"msgId":"AA","reaction":{"type":"emoji","emoji":"👍"}}}"#,
    ] {
      XCTAssertNil(ChatMessage(bytes: Array(bad.utf8)), bad)
    }
    // Unreadable members of a message are left out, so that the message is shown.
    for odd in [#""ttl":-5"#, #""ttl":"x""#, #""live":3"#, #""mentions":[]"#] {
      let text = #"{"event":"x.msg.new","msgId":"AA","params":{"content":{"type":"text","text":"a"},\#(odd)}}"#
      guard case .content(let content)? = ChatMessage(bytes: Array(text.utf8)) else { return XCTFail(odd) }
      XCTAssertEqual(content.traits, MessageTraits(), odd)
    }
  }

  func testMentions() {
    for (text, names, isMentioned) in [
      ("hello @alice", [], true), ("hello alice", [], false), ("@alice, see", [], true), ("@alicia", [], false),
      ("mail a@alice", [], false), ("look", ["alice"], true), ("look", ["bob"], false), ("@Alice", [], false),
    ] as [(String, [String], Bool)] {
      XCTAssertEqual(MessageTraits(mentions: names).mention("alice", in: .text(text)), isMentioned, text)
    }
    XCTAssertTrue(MessageTraits().mention("alice b", in: .text("ask @'alice b' about it")))
  }

  /// Punctuation of any script ends a name, with or without a space after it; a name may itself contain some.
  func testMentionsBeforePunctuationOfAnyScript() {
    for (name, text, isMentioned) in [
      ("alice", "hello @alice。", true), ("alice", "@alice、元気?", true), ("alice", "@alice!」と言った", true),
      ("alice", "@alice\u{3000}元気", true), ("アリス", "@アリス、元気?", true), ("アリス", "@アリスト。", false),
      ("alice", "مرحبا @alice، كيف حالك", true), ("alice", "أين أنت @alice؟", true), ("ليلى", "@ليلى؟", true),
      ("alice", "@alice…", true), ("alice", "@alice—see", true), ("alice", "@alice?!", true),
      ("alice", "@alice]", true),
      ("alice", "@alicia。", false), ("alice", "@alic。", false), ("alice", "@alice.b", false),
      ("alice", "@alice's", false), ("alice", "@alice。*b*", true),
      ("alice.b", "@alice.b。", true), ("alice.b", "@alice.b", true), ("alice.b", "@alice。b", false),
      ("alice（仮）", "@alice（仮）", true), ("alice（仮）", "@alice（仮）、元気?", true), ("alice!", "@alice!", true),
      ("alice", "@'alice。'", false), ("alice。", "@'alice。' と", true), ("", "@。", false),
    ] as [(String, String, Bool)] {
      XCTAssertEqual(MessageTraits().mention(name, in: .text(text)), isMentioned, "\(name) in \(text)")
    }
  }

  /// INC-60: whatever a contact sends and the user does, the counts are those of the messages.
  func testTheBadgeIsWhatIsUnreadAfterAnySequenceOfChanges_INC60() throws {
    try withChat { chat in
      forAll(Generator<Int64>.number(0...Int64.max), runs: 12) { seed in
        var steps = UInt64(bitPattern: seed)
        for _ in 0..<24 {
          steps = steps &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          let (choice, id) = (Int((steps >> 33) % 9), UInt8((steps >> 41) % 12))
          try? Self.take(choice, id, &chat)
          let expected = try Self.counted(chat)
          let badge = try chat.unread
          if badge != expected { throw Mismatch(badge: badge, unread: expected, step: choice) }
        }
      }
    }
  }

  private struct Mismatch: Error {
    let badge: Int64
    let unread: Int64
    let step: Int
  }

  private static func take(_ choice: Int, _ id: UInt8, _ chat: inout Chat) throws {
    let store = chat.store
    let message = chat.message(id % 2 == 0 ? "hello @alice" : "hello", id)
    let (edit, mention) = (chat.edit("edited", id), chat.edit("@alice", id))
    switch choice {
    case 0, 1: try chat.receive { (changes) throws(StoreError) in try changes.insert(message) }
    case 2: try chat.receive { (changes) throws(StoreError) in try changes.edit(edit) }
    case 3: try chat.receive { (changes) throws(StoreError) in try changes.edit(mention) }
    case 4: try chat.receive { (changes) throws(StoreError) in try changes.remove([id]) }
    case 5:
      if let item = try store.item(contactID: chat.contactID, sharedID: [id]) {
        try store.transaction { () throws(StoreError) in try store.remove(item) }
      }
    case 6:
      try store.markRead(
        contactID: chat.contactID, only: id < 6 ? nil : try chat.items().prefix(2).map(\.id), at: chat.start
      ) { _ in
        Disappearance(at: chat.start, boot: "", moment: Moment(nanoseconds: 0))
      }
    case 7:
      let setting: NotificationSetting = [.all, .mentions, .none][Int(id) % 3]
      try store.setChatSettings(chat.contactID, setting, isFavorite: false, sendsReceipts: nil)
    default:
      for entry in try store.entriesToPresent(limit: 3) {
        try store.transaction { () throws(StoreError) in try store.raise(.present, entry) }
      }
    }
  }

  private static func counted(_ chat: Chat) throws -> Int64 {
    let unread = try chat.items().filter { $0.status == "rcvNew" && $0.deletedAt == nil }
    switch try chat.store.contact(chat.contactID).notifications {
    case .all: return Int64(unread.count)
    case .mentions: return Int64(unread.filter(\.mentionsUser).count)
    case .none: return 0
    }
  }
}
