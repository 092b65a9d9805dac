import XCTest

@testable import PorterSettings

/// File, environment and flags: which takes precedence, and what is reported about a mistake.
final class SettingsTests: XCTestCase {
  private let table = SettingsTable(
    program: "tool", summary: "does it", prefix: "TOOL", defaultFile: "/etc/tool.conf",
    commands: [.init("serve", help: "serve"), .init("check", help: "check")],
    settings: [
      Setting("listen", .endpoint, default: "127.0.0.1:1", help: "where"),
      Setting("idle-time", .duration(1...3_600), default: "5m", help: "how long"),
      Setting("cache", .bytes(1...(1 << 40)), default: "64M", help: "how much"),
      Setting("rate", .integer(1...100), default: "5", help: "how often"),
      Setting("form", .choice(["json", "logfmt"]), default: "json", help: "which"),
      Setting("token", .text, isSecret: true, help: "a secret"),
      Setting("nats-name", .natsName, default: "porter", help: "a name"),
      Setting("store", .store, default: "file", help: "a cluster"),
      Setting("proxy", .text, default: "none", help: "where it is"),
    ])

  private func settings(
    _ arguments: [String] = [], _ environment: [String: String] = [:], files: [String: String] = [:],
    openMode: UInt32? = nil
  ) throws -> Settings {
    let request = try table.request(
      arguments: arguments, environment: environment,
      read: { (path) throws(SettingsError) in files[path].map { .init($0, openMode: openMode) } })
    switch request {
    case .command(_, let settings), .printing(let settings): return settings
    case .document: throw SettingsError("help")
    }
  }

  private func assertMistake(
    _ expected: String, _ arguments: [String] = [], _ environment: [String: String] = [:],
    files: [String: String] = [:], line: UInt = #line
  ) {
    XCTAssertThrowsError(try settings(arguments, environment, files: files), line: line) { error in
      XCTAssertEqual((error as? SettingsError)?.description, expected, line: line)
    }
  }

  func testAFlagIsStrongerThanAVariableAndThatThanTheFile() throws {
    let files = ["/etc/tool.conf": "# a comment\nrate = 10 # another\n\n idle-time=1h\nform = logfmt\n"]
    let environment = ["TOOL_RATE": "20", "TOOL_FORM": "json", "HOME": "/", "TOOLBOX": "x"]
    let result = try settings(["--rate", "30", "--listen=[::1]:2"], environment, files: files)
    XCTAssertEqual(try result.number("rate"), 30)
    XCTAssertEqual(result.origin("rate"), .flag("--rate"))
    XCTAssertEqual(result.text("form"), "json")
    XCTAssertEqual(result.origin("form"), .environment("TOOL_FORM"))
    XCTAssertEqual(try result.number("idle-time"), 3_600)
    XCTAssertEqual(result.origin("idle-time"), .file("/etc/tool.conf", line: 4))
    XCTAssertEqual(try result.number("cache"), 64 << 20)
    XCTAssertEqual(try result.endpoint("listen").description, "[::1]:2")
    XCTAssertNil(result.text("token"))
  }

  func testAnotherFileIsNamedByFlagOrVariable() throws {
    let files = ["/etc/tool.conf": "rate = 1", "a": "rate = 2", "b": "rate = 3"]
    XCTAssertEqual(try settings(files: files).number("rate"), 1)
    XCTAssertEqual(try settings(["--config", "a"], ["TOOL_CONFIG": "b"], files: files).number("rate"), 2)
    XCTAssertEqual(try settings([], ["TOOL_CONFIG": "b"], files: files).number("rate"), 3)
    assertMistake("c: there is no such file", ["--config", "c"], files: files)
  }

  func testEveryMistakeSaysWhereItIs() {
    assertMistake("there is no flag --rat; see --help", ["--rat", "1"])
    assertMistake("--rate needs a value", ["--rate"])
    assertMistake("unexpected argument 'sevre'; see --help", ["sevre"])
    assertMistake("unexpected argument 'check'; see --help", ["serve", "check"])
    assertMistake("--rate: rate: expected a number from 1 to 100 instead of '0'", ["--rate", "0"])
    assertMistake("TOOL_RAT: there is no such setting; see --help", [], ["TOOL_RAT": "1"])
    assertMistake(
      "TOOL_IDLE_TIME: idle-time: expected a time such as 30s, 5m, 2h or 7d, from 1 to 3600 seconds instead of '2h'",
      [], ["TOOL_IDLE_TIME": "2h"])
    assertMistake("/etc/tool.conf:2: expected NAME = VALUE", files: ["/etc/tool.conf": "\nrate\n"])
    assertMistake("/etc/tool.conf:1: there is no setting Rate", files: ["/etc/tool.conf": "Rate = 1"])
    assertMistake("--listen: listen: expected HOST:PORT instead of '::1:80'", ["--listen", "::1:80"])
    assertMistake("--form: form: expected json or logfmt instead of 'xml'", ["--form", "xml"])
    assertMistake("--token: token: expected a text", ["--token", ""])
  }

  /// A stream with such a name could not be made, or its subjects would match those of others.
  func testANameThatNATSRefusesIsAMistake() throws {
    let expected = "--nats-name: nats-name: expected at most 200 letters, digits, - and _ instead of"
    for name in ["", "a.b", "a b", "a*", ">", "a/b", "é", "a\nb", "@", String(repeating: "a", count: 201)] {
      assertMistake(
        name == "@" ? expected.replacing(" instead of", with: "") : "\(expected) '\(name)'", ["--nats-name", name])
    }
    for name in ["porter", "Porter_2-b", String(repeating: "a", count: 200)] {
      XCTAssertEqual(try settings(["--nats-name", name]).text("nats-name"), name)
    }
  }

  func testTheAddressesOfAClusterHaveNoUserAndOneThatIsGivenIsNotRepeated() throws {
    let expected = "--store: store: expected file or nats://HOST:PORT, without a user (see nats-credentials),"
    assertMistake(expected + " instead of 'https://one'", ["--store", "https://one"])
    assertMistake(expected, ["--store", "nats://one:4222,nats://me:hush@two:4222"])
    assertMistake(expected, ["--store", "tls://me:hush@two", "--print-config"])
    for place in ["file", "nats://one:4222,two:4222", "tls://one"] {
      XCTAssertEqual(try settings(["--store", place]).text("store"), place)
    }
  }

  func testNumbersThatOverflowAreRefused() {
    XCTAssertNil(Setting.Kind.seconds("9223372036854775807d"))
    XCTAssertNil(Setting.Kind.bytes("9223372036854775807G"))
    XCTAssertNil(Setting.Kind.bytes("k"))
    XCTAssertEqual(Setting.Kind.bytes("10"), 10)
  }

  func testTheListingIsAFileAndHasNoSecrets() throws {
    let listing = try settings(["--token", "hush", "--rate", "7", "--print-config"]).listing
    XCTAssertFalse(listing.contains("hush"))
    XCTAssertTrue(listing.contains("# token is set  # --token"))
    XCTAssertTrue(listing.contains("rate = 7  # --rate"))
    XCTAssertEqual(try settings(files: ["/etc/tool.conf": listing]).number("rate"), 7)
    for (value, shown) in [
      ("nats://user:p@w@one:1,nats://two:2,tls://t0ken@three", "nats://…@one:1,nats://two:2,tls://…@three"),
      ("https://relay.example.org#A@B", "https://relay.example.org#A@B"), ("me@example.org", "me@example.org"),
    ] {
      XCTAssertTrue(try settings(["--proxy", value]).listing.contains("proxy = \(shown)  # --proxy\n"), value)
    }
  }

  func testASecretInAFileThatAllCanReadIsRefused() throws {
    for (line, isRefused) in [
      ("token = hush", true), ("token = socks5h://127.0.0.1:9050", false), ("token = socks5h://me:pw@proxy:1", true),
      ("proxy = nats://me:pw@one:1", true), ("proxy = nats://one:1", false),
    ] {
      let files = ["/etc/tool.conf": "rate = 7\n" + line]
      XCTAssertNoThrow(try settings(files: files))
      guard isRefused else {
        XCTAssertNoThrow(try settings(files: files, openMode: 0o644), line)
        continue
      }
      XCTAssertThrowsError(try settings(files: files, openMode: 0o644)) { error in
        let name = line.prefix { $0 != " " }
        XCTAssertEqual(
          "\(error)",
          "/etc/tool.conf:2: \(name): others can read this file (mode 644); run: chmod o-rwx /etc/tool.conf")
      }
    }
  }

  func testASettingWithoutWhatItBelongsToIsRefused() throws {
    for arguments in [["--rate", "5"], ["--listen", "[::1]:2", "--rate=6"]] {
      XCTAssertThrowsError(try settings(arguments).refuse(["idle-time", "rate"], because: "token is not")) { error in
        XCTAssertEqual("\(error)", "rate is set, token is not")
      }
    }
    XCTAssertNoThrow(try settings().refuse(["idle-time", "rate"], because: "token is not"))
  }

  func testHelpNamesEverySettingCommandAndTheOrder() throws {
    for setting in table.settings { XCTAssertTrue(table.help.contains("--\(setting.name)")) }
    for command in table.commands { XCTAssertTrue(table.help.contains(command.name)) }
    XCTAssertTrue(table.help.contains("--listen is TOOL_LISTEN"))
    XCTAssertTrue(table.help.contains("A variable is stronger than the file, a flag stronger than both."))
    XCTAssertEqual(try document("--help"), table.help)
  }

  private func document(_ flag: String) throws -> String {
    guard case .document(let text) = try table.request(arguments: [flag], environment: [:], read: { _ in nil }) else {
      throw SettingsError("no document")
    }
    return text
  }

  func testTheManualHasEverySettingCommandAndVariable() throws {
    let manual = try document("--manual").replacing("\\-", with: "-")
    for setting in table.settings {
      XCTAssertTrue(manual.contains(".TP\n\\fB--\(setting.name)\\fR"), setting.name)
      XCTAssertTrue(manual.contains(setting.help), setting.name)
    }
    for command in table.commands { XCTAssertTrue(manual.contains("\n\\fB\(command.name)\\fR\n")) }
    XCTAssertTrue(manual.contains("\n.B TOOL_IDLE_TIME\n"))
  }

  func testASampleOfTheFileChangesNothing() throws {
    let sample = try document("--sample-config")
    XCTAssertEqual(try settings(files: ["/etc/tool.conf": sample]).listing, try settings().listing)
    let used = sample.replacing("#rate = ", with: "rate = 2")
    XCTAssertNotEqual(try settings(files: ["/etc/tool.conf": used]).number("rate"), try settings().number("rate"))
  }

  func testACommentFollowsASpaceAndAValueMayHaveTheSign() throws {
    let files = ["/etc/tool.conf": "token = https://relay#AbC # what the relay printed\n#rate = 7\n\t# more\n"]
    XCTAssertEqual(try settings(files: files).text("token"), "https://relay#AbC")
    XCTAssertEqual(try settings(files: files).number("rate"), try settings().number("rate"))
  }
}
