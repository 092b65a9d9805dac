import Foundation
import XCTest

/// Settings a host makes for a contact, an invitation or its own profile are returned as set, and survive a restart.
final class ContactSettingTests: XCTestCase {
  private func contact(_ host: Host) -> JSON { host.send("/_contacts 1")["result"]["contacts"][0] }

  func testAliasesCustomDataAndPreferencesAreKept() throws {
    let pair = try Pair()
    let alice = pair.alice
    let named = alice.send("/_set alias @1 my friend")
    named.assert("contactAliasUpdated")
    XCTAssertEqual(named["result"]["toContact"]["profile"]["localAlias"].text, "my friend")
    alice.send(#"/_set custom @1 {"tag":{"deep":[1,2]}}"#).assert("cmdOk")
    XCTAssertEqual(contact(alice)["customData"]["tag"]["deep"][1].number, 2)
    alice.send("/_set custom @1").assert("cmdOk")
    XCTAssertFalse(contact(alice)["customData"].exists)
    alice.send(#"/_set custom @1 {"tag":1}"#).assert("cmdOk")
    let changed = alice.send(#"/_set prefs @1 {"reactions":{"allow":"no"}}"#)
    changed.assert("contactPrefsUpdated")
    XCTAssertFalse(changed["result"]["fromContact"]["userPreferences"]["reactions"].exists)
    XCTAssertEqual(changed["result"]["toContact"]["userPreferences"]["reactions"]["allow"].text, "no")
    let enabled = { (host: Host) in self.contact(host)["mergedPreferences"]["reactions"]["enabled"]["forUser"].flag }
    XCTAssertFalse(enabled(alice))
    // The contact learns of it.
    let seen = pair.bob.event("contactUpdated")?["result"]["toContact"]
    XCTAssertEqual(seen?["profile"]["preferences"]["reactions"]["allow"].text, "no")
    XCTAssertFalse(enabled(pair.bob))
    // Without a setting for this contact, the profile's preferences apply.
    let calls = { self.contact(pair.bob)["mergedPreferences"]["calls"]["enabled"]["forUser"].flag }
    XCTAssertTrue(calls())
    pair.bob.send(#"/_profile 1 {"displayName":"bob","fullName":"","preferences":{"calls":{"allow":"no"}}}"#)
      .assert("userProfileUpdated")
    XCTAssertFalse(calls())
    // A later profile does not undo it.
    alice.send(#"/_profile 1 {"displayName":"alice","fullName":"A"}"#).assert("userProfileUpdated")
    let later = pair.bob.event("contactUpdated")?["result"]["toContact"]["profile"]
    XCTAssertEqual(later?["fullName"].text, "A")
    XCTAssertEqual(later?["preferences"]["reactions"]["allow"].text, "no")
    alice.free()
    let again = try XCTUnwrap(Host.open(alice.prefix).host)
    let kept = contact(again)
    XCTAssertEqual(kept["profile"]["localAlias"].text, "my friend")
    XCTAssertEqual(kept["customData"]["tag"].number, 1)
    XCTAssertEqual(kept["userPreferences"]["reactions"]["allow"].text, "no")
    again.send("/_set alias @1").assert("contactAliasUpdated")
    XCTAssertEqual(contact(again)["profile"]["localAlias"].text, "")
    for command in ["/_set alias @9 x", "/_set custom @9 {}", "/_set alias :1 x", "/_set alias :9 x"] {
      XCTAssertTrue(again.send(command)["error"].exists, command)
    }
    XCTAssertEqual(again.send("/_groups 1")["result"]["groups"].count, 0)
    again.send("/_groups 1").assert("groupsList")
  }

  func testAnInvitationHasAnAlias() throws {
    let folder = try TemporaryFolder()
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    alice.begin("alice", relay: folder.file("relay.db"))
    let id = alice.send("/_connect 1")["result"]["connection"]["pccConnId"].number
    let named = alice.send("/_set alias :\(id) for bob")
    named.assert("connectionAliasUpdated")
    XCTAssertEqual(named["result"]["toConnection"]["localAlias"].text, "for bob")
    let listed = alice.send("/_get chats 1 pcc=on")["result"]["chats"][0]["chatInfo"]["contactConnection"]
    XCTAssertEqual(listed["localAlias"].text, "for bob")
    // An address is not a pending connection.
    alice.send("/_address 1").assert("userContactLinkCreated")
    XCTAssertEqual(alice.send("/_set alias :2 x").errorTag, "pendingConnectionNotFound")
    XCTAssertEqual(alice.send("/_delete :2").errorTag, "pendingConnectionNotFound")
    XCTAssertEqual(alice.send("/_get chats 1 pcc=on")["result"]["chats"].count, 1)
  }

  /// Member for member, in both directions, including members that this library does not know.
  func testAProfileIsKeptMemberForMember() throws {
    let pair = try Pair()
    let profile =
      #"{"displayName":"alice","fullName":"A","shortDescr":"s","description":"long","contactLink":"porter:/x","#
      + #""peerType":"bot","preferences":{"calls":{"allow":"no"},"files":{"allow":"yes","later":1},"#
      + #""commands":[{"type":"command","keyword":"help","label":"Help","params":"x"}],"theirs":{"a":[1]}},"newer":{"b":2}}"#
    pair.alice.send("/_profile 1 \(profile)").assert("userProfileUpdated")
    pair.alice.send("/_profile 1 \(profile)").assert("userProfileNoChange")
    let seen = pair.bob.event("contactUpdated")?["result"]["toContact"]["profile"] ?? JSON("")
    let own = pair.alice.send("/user")["result"]["user"]["profile"]
    let wanted = JSON(profile)
    for name in [
      "displayName", "fullName", "shortDescr", "description", "contactLink", "peerType", "preferences", "newer",
    ] {
      let expected = NSDictionary(object: wanted[name].value ?? NSNull(), forKey: "value" as NSString)
      for found in [own, seen] {
        XCTAssertEqual(NSDictionary(object: found[name].value ?? NSNull(), forKey: "value" as NSString), expected, name)
      }
    }
    // Known members of another shape are refused, and nothing is changed.
    for bad in [
      #"{"displayName":"alice","fullName":"","image":5}"#, #"{"displayName":"alice","fullName":"","peerType":"cat"}"#,
      #"{"displayName":"alice","fullName":"","preferences":{"calls":{"allow":"perhaps"}}}"#,
      #"{"displayName":"alice","fullName":"","preferences":{"commands":1}}"#, #"{"displayName":"alice","fullName":7}"#,
    ] {
      XCTAssertEqual(pair.alice.send("/_profile 1 \(bad)").errorTag, "commandError", bad)
    }
    pair.alice.send("/_profile 1 \(profile)").assert("userProfileNoChange")
  }

  /// Properties of a new user that this library does not support are refused, not answered with `false`.
  func testANewUserIsTakenMemberForMember() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let profile = #""profile":{"displayName":"alice","fullName":""}"#
    for refused in [
      #""userChatRelay":true"#, #""clientService":true"#, #""userChatRelay":1"#,
      #""pastTimestamp":"no""#, #""newer":true"#,
    ] {
      XCTAssertEqual(host.send("/_create user {\(profile),\(refused)}").errorTag, "commandError", refused)
    }
    XCTAssertEqual(host.send("/users")["result"]["users"].count, 0)
    let taken = #""pastTimestamp":true,"userChatRelay":false,"clientService":null"#
    let user = host.send("/_create user {\(profile),\(taken)}")
    user.assert("activeUser")
    XCTAssertFalse(user["result"]["user"]["userChatRelay"].flag)
  }

  /// In both directions, at rest and when edited, with members that no kind has.
  func testAMessageIsKeptMemberForMember() throws {
    let pair = try Pair()
    func content(_ host: Host) -> NSDictionary? {
      let items = host.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"]
      return items[0]["content"]["msgContent"].value as? NSDictionary
    }
    let sent = #"{"type":"text","text":"hello","newer":{"deep":[1,null]}}"#
    pair.alice.send(#"/_send @1 json [{"msgContent":\#(sent),"mentions":{}}]"#).assert("newChatItems")
    let seen = pair.bob.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]["content"]["msgContent"]
    XCTAssertEqual(seen?.value as? NSDictionary, JSON(sent).value as? NSDictionary)
    let id = pair.alice.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
    let edited = #"{"type":"voice","text":"","duration":3,"newer":true}"#
    pair.alice.send(#"/_update item @1 \#(id) json {"msgContent":\#(edited),"mentions":{}}"#).assert("chatItemUpdated")
    pair.bob.event("chatItemUpdated")
    for host in [pair.alice, pair.bob] { XCTAssertEqual(content(host), JSON(edited).value as? NSDictionary) }
  }

  func testADatabasesAddressIsNoPassphrase() throws {
    let folder = try TemporaryFolder()
    for key in ["postgres://u:p@h/db", "postgresql://h/db", "host=h dbname=db", "mysql://h"] {
      let (answer, host) = Host.open(folder.file("a"), key: key)
      XCTAssertNil(host, key)
      XCTAssertEqual(JSON(answer)["type"].text, "errorSQL", answer)
      XCTAssertFalse(answer.contains("u:p"), answer)
    }
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    // A passphrase may look like anything else.
    XCTAssertNotNil(Host.open(folder.file("a"), key: "postgres is my favourite").host)
  }

  /// A member that has the wrong type, or is not stored, is refused, and nothing is changed.
  func testMembersThatAreNotUnderstoodAreRefused() throws {
    let pair = try Pair()
    pair.alice.send(#"/_settings @1 {"enableNtfs":"all","favorite":true,"sendRcpts":false}"#).assert("cmdOk")
    let text = #""msgContent":{"type":"text","text":"x"}"#
    let wrong = [
      #"/_settings @1 {"enableNtfs":"all","favorite":false,"sendRcpts":"nope"}"#,
      #"/_settings @1 {"enableNtfs":"all","favorite":false,"other":1}"#,
      #"/_send @1 json [{\#(text),"quotedItemId":"7"}]"#, #"/_send @1 json [{\#(text),"zzz":1}]"#,
      #"/_send @1 json [{\#(text),"mentions":["bob"]}]"#, #"/_update item @1 1 json {\#(text),"mentions":7}"#,
      #"/_update item @1 1 json {\#(text),"zzz":1}"#,
    ]
    for command in wrong {
      let answer = pair.alice.send(command)
      XCTAssertEqual(answer.errorTag, "commandError", "\(command): \(answer)")
    }
    XCTAssertEqual(pair.texts(pair.alice), [])
    let chat = pair.alice.send("/_get chat @1 count=1")["result"]["chat"]["chatInfo"]["contact"]["chatSettings"]
    XCTAssertEqual(
      [chat["favorite"].flag, chat["sendRcpts"].exists, chat["sendRcpts"].flag], [true, true, false], chat.description)
    // Optional members may be null.
    pair.alice.send(#"/_settings @1 {"enableNtfs":"all","favorite":true,"sendRcpts":null}"#).assert("cmdOk")
    pair.alice.send(#"/_send @1 json [{\#(text),"fileSource":null,"quotedItemId":null,"mentions":{}}]"#)
      .assert("newChatItems")
  }
}
