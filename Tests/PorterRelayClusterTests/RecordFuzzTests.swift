import PorterCrypto
import PorterPlatform
import PorterRelay
import PropertyTesting
import RefusedRequests
import XCTest

@testable import PorterRelayCluster

/// What a relay reads from its cluster is read as it was written, or is damaged: then only its mailbox is affected
/// (INC-44).
final class RecordFuzzTests: ClusterTestCase {
  private func newKey() throws -> SigningPublicKey { try SigningKeyPair.generate(randomness: randomness).publicKey }

  /// A bare one, one with everything, and a full one.
  private func records() throws -> [MailboxRecord] {
    let bare = MailboxRecord(generation: randomness.bytes(8), recipientKey: try newKey(), senderKey: nil)
    var whole = MailboxRecord(
      generation: randomness.bytes(8), recipientKey: try newKey(), senderKey: try newKey())
    whole.checkKey = RelayCheckKey(bytes: randomness.bytes(32))
    let box = try BoxKeyPair.generate(randomness: randomness).publicKey
    whole.notifier = MailboxRecord.Notifier(
      generation: randomness.bytes(8), key: try newKey(), recipientBoxKey: box, relayBoxKey: box,
      sharedKey: randomness.bytes(32), service: try newKey())
    var records = [bare]
    for count in [3, RelayLimits.undelivered] {
      (whole.waiting, whole.past) = ([], [])
      for number in 0..<count {
        let message = try RelayIdentifier.generate(randomness: randomness)
        let attempt = try RelayIdentifier.generate(randomness: randomness)
        whole.waiting.append(
          MailboxRecord.Entry(
            body: UInt64.max - UInt64(number), message: message, attempt: attempt, sentAt: Int64(number),
            notify: number % 2 == 0, hasNotification: number % 3 == 0))
        whole.past.append(MailboxRecord.Past(attempt: randomness.bytes(8), minute: UInt32(number)))
      }
      records.append(whole)
    }
    return records
  }

  /// The beginning of one and the end of another.
  private func splice(_ one: [UInt8], _ other: [UInt8], at place: Int) -> [UInt8] {
    let end = min(one.count, place)
    return Array(one[..<end]) + Array(other[min(end, other.count)...])
  }

  func testARecordIsReadAsItWasWrittenOrIsDamaged() throws {
    let seeds = try records().map { $0.encoded() }
    var (read, damaged) = (0, 0)
    let places = Generator<Int>.number(0...600)
    forAll(
      both(Generator.edits, both(both(Generator<Int>.number(0...2), Generator<Int>.number(0...8)), places)),
      runs: Edits.runs(6_000)
    ) { edits, choice in
      let ((one, other), place) = choice
      let whole = other < 3 ? self.splice(seeds[one], seeds[other], at: place) : seeds[one]
      let record: MailboxRecord
      do throws(RelayError) { record = try MailboxRecord(decoding: edits.applied(to: whole)) } catch {
        try expect(error == .syntax || error == .version || error == .size, "\(error)")
        return damaged += 1
      }
      read += 1
      // Flags that this version does not know are dropped.
      try expectEqual(try MailboxRecord(decoding: record.encoded()), record)
      try expect(record.waiting.count <= RelayLimits.undelivered, "\(record.waiting.count)")
      try expect(record.past.count <= MailboxRecord.mostPast, "\(record.past.count)")
    }
    XCTAssertGreaterThan(min(read, damaged), 300)
  }

  /// Every request is answered or fails on its own.
  func testARelayAnswersWhateverItsClusterHas() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    for text in ["one", "two", "three"] { try send(text, to: mailbox) }
    let port = makePort(listener: "one")
    let (stored, bodies) = (store.records, store.takeBodies())
    var outcomes: Set<String> = []
    forAll(both(Generator.edits, both(Generator.edits, Generator<Int>.number(0...2))), runs: Edits.runs(1_500)) {
      forRecords, rest in
      let (forBodies, kind) = rest
      var records = stored
      for (key, record) in stored {
        // Newer than what the relay has seen of it.
        records[key] = StoredRecord(bytes: forRecords.applied(to: record.bytes), revision: 1_000_000)
      }
      self.store.undo(to: records)
      _ = self.store.takeBodies()
      self.store.putBack(bodies.mapValues { forBodies.applied(to: $0) })
      for outcome in [
        try self.get(mailbox, port), try self.get(other, port), try self.refused(kind, mailbox, port),
      ] {
        switch outcome {
        case .answer(_, let command, let result, _): outcomes.insert("\(command) \(result)")
        case .failed(_, let isOwn):
          try expect(isOwn, "\(outcome)")
          outcomes.insert("own")
        case .limited: try expect(false, "limited")
        }
      }
    }
    XCTAssertTrue(
      outcomes.isSuperset(of: ["getMessage done", "getMessage noMessage", "getMessage auth", "own"]), "\(outcomes)")
  }

  private func get(_ mailbox: Fixture, _ port: ClusterPort) throws -> RelayService.Outcome {
    var request = RelayRequest(
      correlation: try .generate(randomness: randomness), entity: mailbox.recipient, command: .getMessage)
    request.signature = mailbox.key.sign(request.signedBytes)
    return try XCTUnwrap(port.outcome(of: request.encoded()))
  }

  private func refused(_ kind: Int, _ mailbox: Fixture, _ port: ClusterPort) throws -> RelayService.Outcome {
    let requests = RefusedRequest.all.filter { $0.names == .recipient }
    let request = try requests[kind * requests.count / 3].make(mailbox.recipient, mailbox.senderKey)
    return try XCTUnwrap(port.outcome(of: request.encoded()))
  }

  /// The queue of a service has a reference to each message.
  func testAServiceGetsItsNotificationsBesideAnyOthers() throws {
    let (mailbox, service) = try watchedMailbox()
    try send("hello", to: mailbox)
    let name = try XCTUnwrap(store.services.first)
    let item = try XCTUnwrap(store.items(of: name).first)
    forAll(Generator.edits, runs: Edits.runs(1_500)) { edits in
      self.store.setItems(of: name, [edits.applied(to: item), item])
      let due = try service.dueNotifications(limit: 8)
      try expect(due.notifications.count >= 1, "\(due)")
      try expect(due.notifications.count <= 2, "\(due)")
    }
  }
}
