#if os(Linux)
  import Foundation
  import PorterPlatform
  import PorterStore
  import XCTest

  @testable import PorterRelay

  /// Between two pushes an extension keeps the relay's file open, without holding a lock on it (INC-01).
  final class RelayDozingTests: RelayTestCase {
    private func dozingRelay() -> EmbeddedRelay {
      EmbeddedRelay(
        path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent, mayCreate: false, isBrief: true,
        mayDoze: true)
    }

    private func locks() throws -> Int { try locksHeld(by: getpid(), in: directory) }

    private func openFiles() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }.filter { $0.hasPrefix(path) }
    }

    /// A mailbox with these messages, and nothing open.
    private func filled(_ texts: String...) throws -> Fixture {
      let mailbox = try newMailbox()
      for text in texts { try send(text, to: mailbox) }
      relay.releaseFiles()
      XCTAssertEqual(try locks(), 0)
      return mailbox
    }

    private func text(_ relay: EmbeddedRelay, _ mailbox: Fixture) throws -> String? {
      let client = RelayClient(port: ImpatientPort(relay), randomness: randomness)
      return try client.getMessage(mailbox.recipient, key: mailbox.recipientKey)
        .map { String(decoding: $0.body, as: UTF8.self) }
    }

    private func drop(_ relay: EmbeddedRelay, _ mailbox: Fixture) throws {
      let client = RelayClient(port: ImpatientPort(relay), randomness: randomness)
      let message = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.recipientKey))
      let acknowledged = try client.acknowledgeAndGet(
        message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
      XCTAssertEqual(acknowledged.0, .done)
    }

    func testADozingRelayHoldsNoLockAndKeepsItsFile_INC01() throws {
      let mailbox = try filled("first", "second")
      let dozing = dozingRelay()
      XCTAssertFalse(dozing.doze(), "nothing was open")
      for expected in ["first", "second", nil] {
        XCTAssertEqual(try text(dozing, mailbox), expected)
        if expected != nil { try drop(dozing, mailbox) }
        XCTAssertGreaterThan(try locks(), 0, "or the check below finds nothing")
        let files = try openFiles()
        XCTAssertTrue(dozing.doze())
        XCTAssertTrue(dozing.doze(), "still")
        XCTAssertEqual(try locks(), 0)
        XCTAssertTrue(Set(try openFiles()).isSuperset(of: [path, path + "-wal"]), "\(files)")
      }
      dozing.close()
      XCTAssertEqual(try openFiles(), [])
    }

    /// Another connection writes in between, and stays open, leaves its log, or writes it back.
    func testWhatOthersDidMeanwhileIsFound() throws {
      let mailbox = try filled("first")
      let dozing = dozingRelay()
      defer { dozing.close() }
      for number in 1...3 {
        XCTAssertEqual(try text(dozing, mailbox), number == 1 ? "first" : "\(number - 1)")
        try drop(dozing, mailbox)
        XCTAssertTrue(dozing.doze())
        try send("\(number)", to: mailbox)
        if number == 2 { relay.releaseFiles() }
        if number == 3 { relay.close() }
      }
      XCTAssertEqual(try text(dozing, mailbox), "3")
    }

    func testAnotherFileInItsPlaceIsOpenedAnew() throws {
      let mailbox = try filled("first")
      let dozing = dozingRelay()
      defer { dozing.close() }
      XCTAssertEqual(try text(dozing, mailbox), "first")
      XCTAssertTrue(dozing.doze())
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      let fresh = another()
      let client = RelayClient(port: fresh, randomness: randomness)
      let key = try newKey()
      let other = try client.createMailbox(recipientKey: key)
      XCTAssertThrowsError(try text(dozing, mailbox), "the mailbox is not there") {
        XCTAssertEqual($0 as? RelayError, .auth)
      }
      XCTAssertNil(
        try RelayClient(port: dozing, randomness: randomness).getMessage(other.recipient, key: key))
      fresh.close()
    }

    /// A later version of this library has upgraded the file.
    func testAFileOfALaterVersionIsRefused() throws {
      let mailbox = try filled("first")
      let dozing = dozingRelay()
      defer { dozing.close() }
      XCTAssertEqual(try text(dozing, mailbox), "first")
      XCTAssertTrue(dozing.doze())
      let later = try Database(path: path)
      try later.setUserVersion(1_000)
      try later.checkpoint()
      // Not in an engine's turn: an earlier version would be migrated.
      assertStorageFails([.busy]) { _ = try text(dozing, mailbox) }
      assertStorageFails([.schema]) {
        _ = try RelayClient(port: dozing, randomness: randomness)
          .getMessage(mailbox.recipient, key: mailbox.recipientKey)
      }
      try later.close()
    }
  }
#endif
