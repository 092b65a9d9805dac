import CCountedCrypto
import PorterCrypto
import PorterPlatform
import PorterStore
import RefusedRequests
import XCTest

@testable import PorterRelay

/// Neither an answer nor the work behind it reveals whether a mailbox exists: counted in signatures verified, hashes,
/// statements and steps of SQLite's virtual machine.
final class EqualWorkTests: RelayTestCase {
  private struct Work: Equatable {
    var answers: [RelayAnswer]
    var verifications: Int
    var hashes: Int
    var agreements: Int
    var statements: [String]
  }

  /// SQLite's steps for the columns of the one row that is there, and for looking whether a message waits.
  private static let stepsOfARow = 16

  private func measure(
    _ service: RelayService, _ requests: [RelayRequest]
  ) throws -> (work: Work, steps: Int) {
    let database = try XCTUnwrap(service.file?.database)
    var statements: [String] = []
    database.observer = { statements.append($0) }
    defer { database.observer = nil }
    let (before, crypto) = (database.instructions, counted_crypto())
    let turn = service.carryOut(requests.map { .init(request: $0.encoded(), listener: "one") })
    let after = counted_crypto()
    let answers = try zip(requests, turn.outcomes).map { request, outcome in
      guard case .answer(let bytes, _, _, _) = outcome else { throw RelayError.unavailable }
      return try RelayAnswer(decoding: bytes, correlation: request.correlation)
    }
    let work = Work(
      answers: answers, verifications: after.verifications - crypto.verifications,
      hashes: after.hashes - crypto.hashes, agreements: after.agreements - crypto.agreements, statements: statements)
    return (work, database.instructions - before)
  }

  /// Every mailbox has messages, a notifier and a shared key. A secured one has a sender, too.
  private func filledMailbox(isSecured: Bool) throws -> [RefusedRequest.Name: RelayIdentifier] {
    let mailbox = try newMailbox(isSecured: isSecured)
    let box = try BoxKeyPair.generate(randomness: randomness)
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: try newKey().publicKey, boxKey: box.publicKey)
    for _ in 0..<3 {
      try client.send(
        [1], to: mailbox.sender, key: isSecured ? mailbox.senderKey : nil, attempt: try newAttempt(), notify: true)
    }
    XCTAssertEqual(try client.check([(recipient: mailbox.recipient, key: mailbox.recipientKey)]), [.waiting])
    return [.recipient: mailbox.recipient, .sender: mailbox.sender, .notifier: notifier.identifier]
  }

  func testAWrongKeyTakesAsMuchWorkAsANameThatIsNotThere() throws {
    let (secured, open) = (try filledMailbox(isSecured: true), try filledMailbox(isSecured: false))
    let bare = try newMailbox()
    relay.close()
    let service = try RelayService(
      .init(path: path), ports: Ports(clock: clock, randomness: randomness), admit: { _ in true }, log: nil)
    defer { service.close() }
    let wrong = try newKey()
    for each in RefusedRequest.all {
      // Another name of the same mailbox is the name of none.
      var present = [
        "secured": secured[each.names], "open": open[each.names], "bare": bare.recipient,
        "another name": secured[each.names == .sender ? .recipient : .sender],
      ]
      if each.names == .sender { present["bare"] = bare.sender }
      // Anyone may send to a mailbox that is not secured, without a signature.
      if each.name == "send", !each.isSigned { present["open"] = nil }
      // Alone, and with another request in one transaction.
      for count in 1...2 {
        func asking(_ entity: RelayIdentifier) throws -> (work: Work, steps: Int) {
          let requests = try (0..<count).map { _ in try each.make(entity, wrong) }
          return try measure(service, requests)
        }
        // Statements are prepared, and the listener is there.
        _ = try asking(try newAttempt())
        _ = try asking(try XCTUnwrap(secured[each.names]))
        let missing = try asking(try newAttempt())
        let proven = missing.work.verifications + missing.work.hashes
        XCTAssertEqual(proven > 0, each.isSigned || each.name == "checkByKeys", each.name)
        for (what, entity) in present {
          let there = try asking(try XCTUnwrap(entity))
          XCTAssertEqual(there.work, missing.work, "\(each.name), \(what), \(count)")
          XCTAssertLessThanOrEqual(
            abs(there.steps - missing.steps), count * Self.stepsOfARow, "\(each.name), \(what), \(count)")
        }
      }
    }
  }

  /// A command that names a mailbox, and is added later, belongs here.
  func testEveryCommandThatNamesAMailboxIsMeasured() {
    let named = Set(RefusedRequest.all.map(\.name))
    let nameless: Set = [
      "createMailbox", "notifications", "dueNotifications", "acknowledgeNotifications", "arrivals",
    ]
    let all = (0...UInt8.max).compactMap { RelayCommand.Tag(rawValue: $0) }.map { "\($0)" }
    XCTAssertEqual(named.union(nameless), Set(all))
    XCTAssertTrue(named.isDisjoint(with: nameless))
  }
}
