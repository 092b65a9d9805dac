import PorterJSON
import PorterPlatform
import PorterSchema
import PropertyTesting
import PythonPeer
import XCTest

final class CommandTests: XCTestCase {
  private let nonce = String(repeating: "A", count: 32)
  private let server = ServerAddress(key: [UInt8](repeating: 1, count: 32), mailbox: [UInt8](repeating: 2, count: 24))

  /// Key, secret and endpoint of a Web Push subscription.
  private static let webPush = TextEncoding.hex(
    [4] + [UInt8](repeating: 7, count: 64 + 16) + Array("https://push.example/abc".utf8))

  private static let withoutFiles = Profile(
    displayName: "robot", preferences: Preferences(allowed: [.files: .no]), peerType: .bot)

  func testUserCommands() throws {
    try assertReads([
      "/u": .showActiveUser, "/user": .showActiveUser, "/user \r\n\t": .showActiveUser, "/users": .listUsers,
      #"/_create user {"profile":{"displayName":"alice","fullName":""},"pastTimestamp":false}"#:
        .createUser(Profile(displayName: "alice")),
      #"/_create user {"pastTimestamp":false}"#: .createUser(nil),
      #"/_create user {"profile":null}"#: .createUser(nil),
      "/create user alice": .createUser(Profile(displayName: "alice")),
      "/create user alice likes cats": .createUser(Profile(displayName: "alice", shortDescription: "likes cats")),
      "/create user 'alice b'": .createUser(Profile(displayName: "alice b")),
      "/create bot files=on robot": .createUser(Profile(displayName: "robot", peerType: .bot)),
      "/create bot files=off robot": .createUser(Self.withoutFiles),
      "/create bot robot": .createUser(Self.withoutFiles),
      "/_user 3": .setActiveUser(3, password: nil),
      #"/_user 3 "pass word""#: .setActiveUser(3, password: SecretText("pass word")),
      #"/_hide user 1 "p""#: .hideUser(1, password: SecretText("p")),
      #"/_unhide user 1 "p""#: .unhideUser(1, password: SecretText("p")),
      "/_mute user 1": .muteUser(1), "/_unmute user 1": .unmuteUser(1),
      "/_delete user 1 del_smp=on": .deleteUser(1, deletesMailboxes: true, password: nil),
      #"/_delete user 1 del_smp=off "p""#: .deleteUser(1, deletesMailboxes: false, password: SecretText("p")),
      #"/_profile 1 {"displayName":"al"}"#: .updateProfile(1, Profile(displayName: "al")),
    ])
  }

  func testLifecycleCommands() throws {
    let paths = FilePaths(files: "f", temporary: "t", assets: "a")
    let network = NetworkSettings(relay: .embedded(path: "/r.db"), notificationServer: server)
    try assertReads([
      "/_start": .startChat(mainApp: true, sendsFiles: true),
      "/_start main=off": .startChat(mainApp: false, sendsFiles: false),
      "/_start main=off snd_files=on": .startChat(mainApp: false, sendsFiles: true),
      "/_start subscribe=off expire=on xftp=on": .startChat(mainApp: false, sendsFiles: false),
      "/_stop": .stopChat, "/_check running": .checkRunning,
      "/_app activate": .activateChat(restores: true),
      "/_app activate restore=off": .activateChat(restores: false),
      "/_app doze on": .setDozing(true), "/_app doze off": .setDozing(false),
      "/_app suspend 4000000": .suspendChat(.seconds(4)), "/_app suspend 0": .suspendChat(.zero),
      "/_app phase active": .setPhase(.active), "/_app phase background": .setPhase(.background),
      "/_app phase suspended": .setPhase(.suspended), "/_resubscribe all": .resubscribeAll,
      #"/set file paths {"appFilesFolder":"f","appTempFolder":"t","appAssetsFolder":"a"}"#: .setFilePaths(paths),
      "/_files_encrypt on": .encryptFiles(true),
      #"/_network {"relay":"embedded:/r.db","ntfServer":"\#(server)"}"#: .setNetwork(network),
      #"/_network {"socksProxy":null,"socksMode":"always","hostMode":"publicHost","requiredHostMode":true,"#
        + #""sessionMode":"user","smpProxyMode":"always","smpProxyFallback":"allowProtected","smpWebPortServers":"preset","#
        + #""tcpConnectTimeout":25000000,"tcpTimeout":15000000,"tcpTimeoutPerKb":10000,"rcvConcurrency":12,"#
        + #""tcpKeepAlive":{"keepIdle":30,"keepIntvl":15,"keepCnt":4},"smpPingInterval":1200000000,"smpPingCount":3,"#
        + #""logTLSErrors":false}"#: .setNetwork(NetworkSettings()),
      #"/_network {"defaultRelay":"/d.db"}"#: .setNetwork(NetworkSettings(defaultRelay: .embedded(path: "/d.db"))),
      #"/_network {"relay":"/r.db","ntfServer":null,"socksMode":"always"}"#:
        .setNetwork(NetworkSettings(relay: .embedded(path: "/r.db"))),
      #"/_network info {"networkType":"wifi"}"#: .setNetworkInformation,
      "/_db delete": .deleteStorage,
      #"/_db encryption {"currentKey":"a","newKey":"b"}"#:
        .encryptStorage(currentKey: SecretText("a"), newKey: SecretText("b")),
    ])
  }

  func testNotificationCommands() throws {
    let token = DeviceToken(provider: .production, token: "00ff")
    let bytes = [UInt8](repeating: 0, count: 24)
    let request = ConnectionMessageRequest(
      agentConnectionID: "Y29ubg", queueID: 3, timestamp: WallTime(milliseconds: 1_700_000_000_000))
    try assertReads([
      "/_ntf get": .getToken,
      "/_ntf register apns_prod 00ff INSTANT": .registerToken(token, .instant),
      "/_ntf register webpush \(Self.webPush) INSTANT":
        .registerToken(DeviceToken(provider: .webPush, token: Self.webPush), .instant),
      "/_ntf register apns_null test_ntf_token PERIODIC":
        .registerToken(DeviceToken(provider: .null, token: "test_ntf_token"), .periodic),
      "/_ntf verify apns_prod 00ff \(nonce) AAAA": .verifyToken(token, nonce: bytes, code: [0, 0, 0]),
      "/_ntf check apns_prod 00ff": .checkToken(token), "/_ntf delete apns_prod 00ff": .deleteToken(token),
      "/_ntf conns \(nonce) AAAA": .notifiedConnections(nonce: bytes, sealed: [0, 0, 0]),
      "/_ntf conn messages Y29ubg:3:2023-11-14T22:13:20Z": .connectionMessages([request]),
      "/_ntf conn messages Y29ubg:3:2023-11-14T22:13:20.000Z,Y29ubg:3:2023-11-14T22:13:20Z":
        .connectionMessages([request, request]),
      "/ntf test \(server)": .testNotificationServer(server),
    ])
  }

  func testChatCommands() throws {
    let day = WallTime(milliseconds: 1_700_000_000_000)
    let hello = ComposedMessage(.text("hello"))
    let quoting = ComposedMessage(.text("hello"), quotedItemID: 5)
    try assertReads([
      "/_get chats 1": .getChats(user: 1, pendingConnections: false, .last(5_000), .all),
      "/_get chats 1 pcc=on count=9": .getChats(user: 1, pendingConnections: true, .last(9), .all),
      "/_get chats 1 after=2023-11-14T22:13:20Z count=2":
        .getChats(user: 1, pendingConnections: false, .after(day, count: 2), .all),
      #"/_get chats 1 before=2023-11-14T22:13:20Z count=2 {"type":"search","search":"x"}"#:
        .getChats(user: 1, pendingConnections: false, .before(day, count: 2), .search("x")),
      "/_get chat @1 count=10": .getChat(.contact(1), .last(10), search: nil),
      "/_get chat #1(_support:2) count=10": .getChat(.group(1), .last(10), search: nil),
      "/_get chat *1 after=4 count=10": .getChat(.noteFolder(1), .after(4, count: 10), search: nil),
      "/_get chat :1 before=4 count=10": .getChat(.pendingConnection(1), .before(4, count: 10), search: nil),
      "/_get chat @1 around=4 count=10 search=two words":
        .getChat(.contact(1), .around(4, count: 10), search: "two words"),
      "/_get chat @1 initial=20": .getChat(.contact(1), .initial(20), search: nil),
      "/_read chat @1": .readChat(.contact(1)), "/_read chat items @1 5,6,7": .readItems(.contact(1), [5, 6, 7]),
      "/_read user 1": .readUser(1), "/_unread chat @1 on": .markUnread(.contact(1), true),
      #"/_settings @1 {"enableNtfs":"none","favorite":true}"#:
        .setChatSettings(.contact(1), ChatSettings(notifications: .none, isFavorite: true)),
      "/_send @1 text hello": .send(.contact(1), [hello]),
      #"/_send @1 json [{"msgContent":{"type":"text","text":"hello"},"mentions":{}}]"#: .send(.contact(1), [hello]),
      #"/_send @1 live=off sign=off json {"quotedItemId":5,"msgContent":{"type":"text","text":"hello"}}"#:
        .send(.contact(1), [quoting]),
      "/_send @1 live=on ttl=30 text hello":
        .send(.contact(1), [hello], SendOptions(isLive: true, secondsToLive: 30)),
      #"/_send @1 ttl=5 json [{"msgContent":{"type":"text","text":"hello"},"mentions":{"bob":7}}]"#:
        .send(
          .contact(1), [ComposedMessage(.text("hello"), mentions: ["bob"])], SendOptions(secondsToLive: 5)),
      "@bob hello": .sendByName("bob", hello), "@'bob b' hello": .sendByName("bob b", hello),
      "/_delete @1": .deleteChat(.contact(1), .full, notifies: true),
      "/_delete @1 notify=off": .deleteChat(.contact(1), .full, notifies: false),
      "/_delete @1 entity notify=off": .deleteChat(.contact(1), .entity, notifies: false),
      "/_delete :1 messages": .deleteChat(.pendingConnection(1), .messages, notifies: true),
      "/_call get": .getCalls,
      #"/_call invite @5 {"media":"audio","capabilities":{"encryption":false}}"#:
        .call(5, .invite(CallType(media: .audio, encrypts: false))),
      "/_call reject @5": .call(5, .reject), "/_call end @5": .call(5, .end),
      #"/_call offer @5 {"callType":{"media":"video","capabilities":{"encryption":true}},"rtcSession":{"rtcSession":"s","rtcIceCandidates":"c"}}"#:
        .call(
          5,
          .offer(
            CallOffer(
              type: CallType(media: .video, encrypts: true), session: MediaSession(session: "s", candidates: "c")))),
      #"/_call answer @5 {"rtcSession":"s","rtcIceCandidates":"c"}"#:
        .call(5, .answer(MediaSession(session: "s", candidates: "c"))),
      #"/_call extra @5 {"rtcIceCandidates":"c"}"#: .call(5, .extra("c")),
      "/_call status @5 failed": .call(5, .status(.failed)),
    ])
  }

  func testItemCommands() throws {
    let hello = UpdatedMessage(.text("hello"))
    try assertReads([
      #"/_update item @1 5 json {"msgContent":{"type":"text","text":"hello"},"mentions":{}}"#:
        .updateItem(.contact(1), 5, hello, live: false),
      "/_update item @1 5 live=on text hello": .updateItem(.contact(1), 5, hello, live: true),
      "/_delete item @1 5 broadcast": .deleteItems(.contact(1), [5], .broadcast),
      "/_delete item @1 5,6 internal": .deleteItems(.contact(1), [5, 6], .internal),
      "/_delete item @1 5 internalMark": .deleteItems(.contact(1), [5], .internalMark),
      "/_delete item #1 5 history": .deleteItems(.group(1), [5], .history),
      #"/_reaction @1 5 on {"type":"emoji","emoji":"👍"}"#: .react(.contact(1), 5, add: true, .emoji("👍")),
      #"/_reaction @1 5 off {"type":"emoji","emoji":"❤"}"#: .react(.contact(1), 5, add: false, .emoji("❤")),
      "/_set receipts contacts 1 on": .setReceipts(1, true, overridesContacts: false),
      "/_set receipts contacts 1 off clear_overrides=on": .setReceipts(1, false, overridesContacts: true),
    ])
  }

  func testSettingsCommands() throws {
    let settings = try XCTUnwrap(
      AppSettings(text: #"{"theirs":[1],"notificationPreviewMode":"contact","appLock":true}"#))
    XCTAssertEqual(settings.previewMode, .contact)
    XCTAssertEqual(settings.hasAppLock, true)
    try assertReads([
      #"/_save app settings {"theirs":[1],"notificationPreviewMode":"contact","appLock":true}"#:
        .saveAppSettings(settings),
      "/_save app settings {}": .saveAppSettings(AppSettings()), "/_get app settings": .getAppSettings(AppSettings()),
      #"/_get app settings {"theirs":[1],"notificationPreviewMode":"contact","appLock":true}"#:
        .getAppSettings(settings),
    ])
  }

  func testContactCommands() throws {
    let link = SecretText("np:link")
    try assertReads([
      "/_connect 1": .addContact(user: .id(1)), "/_connect 1 incognito=off": .addContact(user: .id(1)),
      "/_connect 1 np:link": .connect(user: .id(1), link: link),
      "/_connect 1 incognito=off np:link np:short": .connect(user: .id(1), link: link),
      "/connect": .addContact(user: .active), "/c": .addContact(user: .active),
      "/connect np:link": .connect(user: .active, link: link), "/c np:link": .connect(user: .active, link: link),
      "/_connect plan 1 np:link": .connectionPlan(user: 1, link: link),
      "/_contacts 1": .listContacts(.id(1)), "/contacts": .listContacts(.active),
      "/_set alias @1 my friend": .setContactAlias(1, "my friend"), "/_set alias @1": .setContactAlias(1, ""),
      "/_set alias :1 x": .setConnectionAlias(1, "x"), "/_groups 1": .listGroups(1),
      "/_groups 1 @2 two words": .listGroups(1),
      #"/_set custom @1 {"a":[1]}"#: .setCustomData(1, JSONObject([("a", .array([1]))])),
      "/_set custom @1": .setCustomData(1, nil),
      #"/_set prefs @1 {"calls":{"allow":"no"},"theirs":1}"#:
        .setContactPreferences(1, try XCTUnwrap(Preferences(json: ["calls": ["allow": "no"], "theirs": 1]))),
      "/_connect 1 incognito=on": .addContact(user: .id(1), incognito: true),
      "/_connect 1 incognito=on np:link": .connect(user: .id(1), link: link, incognito: true),
    ])
  }

  func testAddressCommands() throws {
    let written =
      #"{"businessAddress":false,"autoAccept":{"acceptIncognito":true},"autoReply":{"type":"text","text":"hi"},"#
      + #""theirs":[1]}"#
    let settings = try AddressSettings(checking: try JSONValue(parsing: Array(written.utf8)))
    XCTAssertEqual(settings.json.text, written)
    XCTAssertEqual(settings.acceptsIncognito, true)
    XCTAssertEqual(settings.reply, .text("hi"))
    XCTAssertNil(AddressSettings.initial.acceptsIncognito)
    XCTAssertNil(AddressSettings.initial.reply)
    try assertReads([
      "/_address 1": .createAddress(.id(1)), "/_address 1 pq_ratchet=on": .createAddress(.id(1)),
      "/address": .createAddress(.active), "/ad": .createAddress(.active),
      "/_show_address 1": .showAddress(.id(1)), "/show_address": .showAddress(.active), "/sa": .showAddress(.active),
      "/_delete_address 1": .deleteAddress(.id(1)), "/delete_address": .deleteAddress(.active),
      "/da": .deleteAddress(.active), "/_profile_address 1 on": .setProfileAddress(1, true),
      "/_profile_address 1 off": .setProfileAddress(1, false),
      "/_address_settings 1 \(written)": .setAddressSettings(1, settings),
      "/_accept 5": .acceptContact(5, incognito: false),
      "/_accept incognito=on 5": .acceptContact(5, incognito: true),
      "/_accept incognito=off 5": .acceptContact(5, incognito: false), "/_reject 5": .rejectContact(5),
    ])
  }

  func testCommandsOfThePublicPackageAreUnderstood() throws {
    let text = MessageContent.text("grüß dich\n\"du\"")
    let messages = [ComposedMessage(text), ComposedMessage(text)]
    let profile = Profile(displayName: "alice", fullName: "Alice A.")
    let expected: [String: Command] = [
      "showActiveUser": .showActiveUser, "createUser": .createUser(profile), "listUsers": .listUsers,
      "setActiveUser": .setActiveUser(2, password: nil),
      "setActiveUser password": .setActiveUser(2, password: SecretText("pass word")),
      "deleteUser": .deleteUser(2, deletesMailboxes: true, password: nil),
      "deleteUser password": .deleteUser(2, deletesMailboxes: false, password: SecretText("x")),
      "updateProfile": .updateProfile(1, profile), "startChat": .startChat(mainApp: true, sendsFiles: true),
      "stopChat": .stopChat, "send": .send(.contact(7), messages), "addContact": .addContact(user: .id(1)),
      "connect": .connect(user: .id(1), link: SecretText("np:link")),
      "connect active": .connect(user: .active, link: SecretText("np:link")),
      "connectionPlan": .connectionPlan(user: 1, link: SecretText("np:link")), "listContacts": .listContacts(.id(1)),
      "getChats": .getChats(
        user: 1, pendingConnections: true, .last(20), .filters(favorite: false, unread: true)),
      "deleteChat": .deleteChat(.contact(7), .full, notifies: false),
      "deleteChat messages": .deleteChat(.contact(7), .messages, notifies: true), "showAddress": .showAddress(.id(1)),
    ]
    var seen = Set<String>()
    for line in try runPeer("commands.py").split(separator: "\n") {
      let pair = try XCTUnwrap(JSONValue(parsing: line).arrayValue)
      let name = try XCTUnwrap(pair.first?.stringValue)
      XCTAssertEqual(try Command(parsing: XCTUnwrap(pair.last?.stringValue)), expected[name], name)
      seen.insert(name)
    }
    XCTAssertEqual(seen, Set(expected.keys))
  }

  private func assertReads(_ commands: KeyValuePairs<String, Command>, line: UInt = #line) throws {
    for (text, command) in commands {
      do {
        let read = try Command(parsing: text)
        XCTAssertEqual(read, command, text, line: line)
      } catch {
        XCTFail("\(text): \(error)", line: line)
      }
    }
  }
}
