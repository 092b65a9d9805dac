import Foundation
import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterSchema
import XCTest

@testable import PorterEngine

/// The table of spec/protocol/messages.md lists the messages that the code writes, with their members and flags.
final class MessageDocumentTests: XCTestCase {
  private struct Row {
    var required: Set<String> = []
    var optional: Set<String> = []
    var notifies = false
  }

  func testTheTableListsEachMessageWithItsMembersAndItsFlag() throws {
    let rows = try Self.table()
    var optional: [String: Set<String>] = [:]
    for message in try Self.messages() {
      let json = try JSONValue(parsing: message.bytes)
      let event = try XCTUnwrap(json["event"]?.stringValue)
      let row = try XCTUnwrap(rows[event], "\(event) is not in the table")
      guard case .object(let params)? = json["params"] else { return XCTFail("\(event) has no params") }
      let names = Set(params.members.map(\.name))
      XCTAssertEqual(row.required.subtracting(names), [], "\(event): members that are not always there")
      XCTAssertEqual(names.subtracting(row.required).subtracting(row.optional), [], "\(event): members not listed")
      XCTAssertEqual(row.notifies, message.notifies, "\(event): flag")
      XCTAssertEqual(ChatMessage(bytes: message.bytes), message, event)
      optional[event, default: []].formUnion(names.subtracting(row.required))
    }
    XCTAssertEqual(Set(rows.keys), Set(optional.keys), "events")
    for (event, row) in rows { XCTAssertEqual(row.optional, optional[event], "\(event): optional members") }
  }

  /// Each kind of message, with all optional members and with none.
  private static func messages() throws -> [ChatMessage] {
    let traits = MessageTraits(isLive: true, secondsToLive: 60, mentions: ["alice"])
    let time = WallTime(milliseconds: 1_000)
    let quote = Quote(sharedID: [2], sentAt: time, isOwn: true, content: .text("b"))
    let profile = try XCTUnwrap(Profile(json: ["displayName": "alice", "fullName": ""]))
    let key = try XCTUnwrap(BoxPublicKey(bytes: [UInt8](repeating: 7, count: BoxPublicKey.count)))
    let type = CallType(media: .audio, encrypts: true)
    let session = MediaSession(session: "s", candidates: "c")
    let calls: [CallSignal.Content] = [
      .invitation(type, key: key), .offer(CallOffer(type: type, session: session), key: key), .answer(session),
      .extra(candidates: "c"), .end,
    ]
    return [
      .information(profile, replyMailbox: [UInt8](repeating: 1, count: 24)),
      .information(profile, replyMailbox: nil), .greeted, .left,
      .content(.init(content: .text("a"), sharedID: [1], sentAt: time, quote: quote, traits: traits)),
      .content(.init(content: .text("a"), sharedID: [1], sentAt: time, quote: nil)),
      .edit(.init(sharedID: [1], content: .text("b"), traits: traits)),
      .edit(.init(sharedID: [1], content: .text("b"))), .removal(sharedID: [1]),
      .reaction(.init(sharedID: [1], reaction: .emoji("👍"), isAdded: true)), .receipt(sharedID: [1]),
    ] + calls.map { .call(CallSignal(id: [1], $0)) }
  }

  private static func table() throws -> [String: Row] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = root.appendingPathComponent("spec/protocol/messages.md")
    var rows: [String: Row] = [:]
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") where line.hasPrefix("| `x.") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      var row = Row(notifies: cells[3].hasPrefix("yes"))
      for member in cells[2].matches(of: #/`(\w+)`(\?)?/#) {
        if member.output.2 == nil {
          row.required.insert(String(member.output.1))
        } else {
          row.optional.insert(String(member.output.1))
        }
      }
      rows[cells[1].trimmingCharacters(in: CharacterSet(charactersIn: "`"))] = row
    }
    return rows
  }
}
