import PorterJSON
import PorterSchema
import PropertyTesting
import XCTest

final class CommandErrorTests: XCTestCase {
  /// Each refusal gives the position in bytes and what was expected there.
  func testRefusalsGivePositionAndExpectation() {
    let reaction = "a reaction: type emoji and one of \(MessageReaction.emojis.joined(separator: " "))"
    let refusals: [(String, Int, String)] = [
      ("", 0, "a command"), ("hello", 0, "a command"), ("/", 0, "a command"), ("/userx", 0, "a command"),
      (" /user", 0, "a command"), ("/user alice", 5, "the command's end"), ("/_user", 6, "a space and a profile's id"),
      ("/_user x", 7, "a profile's id"), ("/_user -1", 7, "a profile's id"),
      ("/_user 9223372036854775808", 7, "a profile's id"),
      ("/_user 1 x", 9, "a password as JSON (unexpectedCharacter)"),
      ("/_user 1 2", 9, "a password as a JSON string"), ("/_create user 3", 15, "a new user as a JSON object"),
      ("/_create user {\"profile\":{}}", 28, "a profile with a displayName"),
      ("/create user 'alice", 14, "a name and a closing '"), ("/_delete user 1", 15, "a space and del_smp=on|off"),
      ("/_app suspend -1", 14, "a number of microseconds"), ("/_app phase on", 12, "active, background or suspended"),
      ("/_start main=yes", 13, "on or off"), ("/_network {", 11, "network settings as JSON (unexpectedEnd)"),
      ("/_network {\"relay\":1}", 21, "relay, embedded:<path> or a path"),
      ("/_network {\"ntfServer\":\"smp://a\"}", 33, "ntfServer, ntf:<key, base64url>@<mailbox, base64url>"),
      (#"/_network {"socksProxy":"localhost:9050"}"#, 41, "socksProxy: null"),
      (
        #"/_network {"relai":"/r.db"}"#, 27,
        "no members but relay, defaultRelay, ntfServer and SimpleX's network settings"
      ), (#"/_reaction @1 5 on {"type":"emoji","emoji":"👍","extra":1}"#, 18, reaction),
      (#"/_reaction @1 5 on {"type":"heart"}"#, 18, reaction),
      ("/_ntf register apns_wrong 00ff INSTANT", 15, "a provider (apns_dev, apns_prod, apns_test, webpush, apns_null)"),
      ("/_ntf register apns_prod 00FF INSTANT", 25, "a device token in lower-case hexadecimal"),
      ("/_ntf register apns_prod 00f INSTANT", 25, "a device token in lower-case hexadecimal"),
      ("/_ntf register apns_prod 00ff OFF", 30, "INSTANT or PERIODIC"),
      ("/_ntf conns AAAA AAAA", 12, "a nonce of 24 bytes, base64url"),
      ("/_ntf conn messages a:b:c", 20, "up to 64 times connection:queue:timestamp"),
      ("/_ntf conn messages Y29ubg:1:2023-11-14T22:13:20Z,", 20, "up to 64 times connection:queue:timestamp"),
      ("/_get chats 1 after=noon count=1", 20, "a timestamp"),
      (#"/_get chats 1 {"type":"filters","favorite":1}"#, 45, "favorite: true or false"),
      (#"/_get chats 1 {"type":"filters","unread":"yes"}"#, 47, "unread: true or false"),
      (#"/_get chats 1 {"type":"filters","muted":true}"#, 45, "no members but type, favorite, unread"),
      (#"/_get chats 1 {"type":"search","search":1}"#, 42, "search: a text"),
      (
        #"/set file paths {"appFilesFolder":"a","appTempFolder":"b","appAssetsFolder":"c","appCache":"d"}"#,
        95, "no members but appFilesFolder, appTempFolder, appAssetsFolder"
      ),
      (#"/_db encryption {"currentKey":"","newKey":"x","iterations":1}"#, 15, "no members but currentKey, newKey"),
      (
        #"/_call invite @1 {"media":"audio","capabilities":{"encryption":true,"screen":true}}"#,
        16, "callType: media and capabilities.encryption"
      ),
      (
        #"/_call offer @1 {"callType":{"media":"audio","capabilities":{"encryption":true}},"#
          + #""rtcSession":{"rtcSession":"a","rtcIceCandidates":"b"},"callDhPubKey":"c"}"#,
        15, "a call offer: callType and rtcSession"
      ),
      (
        #"/_call answer @1 {"rtcSession":"a","rtcIceCandidates":"b","kind":"c"}"#, 16,
        "a session: rtcSession and rtcIceCandidates"
      ),
      (#"/_call extra @1 {"rtcIceCandidates":"b","kind":"c"}"#, 15, "extra information: rtcIceCandidates"),
      (#"/_get chats 1 {"type":"search","search":"x","unread":true}"#, 58, "no members but type, search"),
      ("/_get chat @1", 13, "count=, after=, before=, around= or initial="),
      ("/_get chat 1 count=1", 11, "a conversation: @id, #id, *id or :id"),
      ("/_read chat items @1 1,", 23, "a message's id"),
      ("/_settings @1 {}", 16, "enableNtfs (none, all or mentions) and favorite"),
      ("/_send @1 json []", 17, "one message at least"), ("/_send @1 json [{}]", 19, "msgContent with type and text"),
      ("/_send @1", 9, "json and messages, or text and a text"), ("@bob", 4, "a space and a text"),
      ("/_save app settings", 19, "a space and settings as JSON"),
      ("/_save app settings 1", 21, "settings as a JSON object"),
      (#"/_save app settings {"notificationPreviewMode":"all"}"#, 53, Self.readSettings),
      (#"/_save app settings {"notificationPreviewMode":1}"#, 49, Self.readSettings),
      (#"/_get app settings {"appLock":"on"}"#, 35, Self.readSettings), ("@ hello", 1, "a contact's name"),
    ]
    for (text, position, expected) in refusals {
      XCTAssertThrowsError(try Command(parsing: text), text) { error in
        XCTAssertEqual(
          error as? ChatError, .nightporter(.commandSyntax(position: position, expected: expected)), text)
      }
    }
  }

  private static let readSettings = "notificationPreviewMode (message, contact or hidden) and appLock (true or false)"

  func testUnsupportedCommandsAreToldApartFromTypingErrors() {
    for text in [
      "/_group 1 {}", "/_members #1", "/_db export {}", "/_get item info @1 2",
      "/_set receipts groups 1 on", "/freceive 1",
      #"/_send @1 json [{"fileSource":{"filePath":"x"},"msgContent":{"type":"file","text":""}}]"#,
      "/_accept member #1 2 member", "/_create member contact #1 2", "/_invite member contact @1 text hello",
      "/_set prefs #1 {}", "/_set custom #1 {}",
    ] {
      XCTAssertThrowsError(try Command(parsing: text), text) { error in
        guard case .nightporter(.notSupported) = error as? ChatError else { return XCTFail("\(text): \(error)") }
      }
    }
  }

  func testInvalidNamesAreRefusedWithAValidOne() {
    XCTAssertThrowsError(try Command(parsing: "/create user @alice")) { error in
      XCTAssertEqual(error as? ChatError, .error(.invalidDisplayName(given: "@alice", valid: "alice")))
    }
  }

  func testOversizedCommandsAreRefused() {
    let text = "/_send @1 text " + String(repeating: "a", count: Command.maximumBytes)
    XCTAssertThrowsError(try Command(parsing: text)) { error in
      let expected = NightporterError.commandTooLarge(bytes: text.utf8.count, limit: Command.maximumBytes)
      XCTAssertEqual(error as? ChatError, .nightporter(expected))
    }
  }

  /// Whatever is wrong with a command, the answer never quotes parts that may be secret.
  func testRefusalsNeverQuoteSecrets() {
    let secret = "s3cretPassphrase"
    let commands = [
      "/_user 1 \(secret)", "/_user 1 \"\(secret)", "/_hide user 1 \(secret)",
      "/_db encryption {\"currentKey\":\"\(secret)\"}",
      "/_db encryption \(secret)", "/_connect x \(secret)", "/_ntf register apns_prod \(secret) INSTANT",
      "/_ntf verify apns_prod 00ff \(secret) \(secret)", "/_network {\"ntfServer\":\"\(secret)\"}", secret,
      "/\(secret)",
      "@'\(secret)", "/_send @1 \(secret)", "/_delete user 1 del_smp=\(secret)", "/_start main=\(secret)",
    ]
    for command in commands {
      XCTAssertThrowsError(try Command(parsing: command), command) { error in
        guard let error = error as? ChatError else { return XCTFail("\(error)") }
        XCTAssertFalse(Answer.error(error).text.contains(secret), command)
        XCTAssertFalse("\(error)".contains(secret), command)
      }
    }
  }

  /// Pieces of commands in any order, cut and corrupted: the result is a command or a `ChatError`, in time, and never a
  /// trap.
  func testAnyTextIsACommandOrATypedRefusal() {
    let pieces = [
      "/_user", "/_ntf conns", "/_ntf conn messages", "/_get chats", "/_get chat", "/_send", "/_connect", "@", "'", " ",
      "1", "9223372036854775807", "99999999999999999999", "@1", ":1", "#1(_support", "json", "[", "]", "{", "}",
      "\"msgContent\":", "count=", "after=", "2023-11-14T22:13:20Z", ",", ":", "on", "off", "=", "é", "\u{0}", "\n",
      "apns_null", "test_ntf_token", "/", "_", "\"", "\\u", "incognito=", "/_network", "/_settings", "/_set alias",
    ]
    let command = Generator.one(of: [Generator<String>.element(of: pieces), Generator<String>.text(0...3)])
      .array(0...12).map { $0.joined() }
    forAll(command, runs: 20_000) { text in
      do {
        _ = try Command(parsing: text)
      } catch let error as ChatError {
        if case .nightporter(.commandSyntax(let position, _)) = error {
          try expect(position >= 0 && position <= text.utf8.count, "position \(position)")
        }
      }
    }
  }

  func testDeepAndWideJSONIsRefusedOrReadInTime() {
    let deep = "/_network " + String(repeating: "[", count: 100_000)
    XCTAssertThrowsError(try Command(parsing: deep))
    let wide = "/_network {" + (0..<10_000).map { "\"a\($0)\":1" }.joined(separator: ",") + "}"
    XCTAssertThrowsError(try Command(parsing: wide))
    let read = "/_network info" + wide.dropFirst("/_network".count)
    XCTAssertEqual(try? Command(parsing: read), .setNetworkInformation)
  }
}
