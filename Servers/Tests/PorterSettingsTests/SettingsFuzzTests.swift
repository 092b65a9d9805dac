import PorterMutation
import XCTest

@testable import PorterSettings

/// Settings files with any content are read or rejected, and settings that were read are printed in a form that can be
/// read again.
final class SettingsFuzzTests: XCTestCase {
  private let table = SettingsTable(
    program: "tool", summary: "does it", prefix: "TOOL", defaultFile: "/etc/tool.conf",
    commands: [.init("serve", help: "serve")],
    settings: [
      Setting("listen", .endpoint, default: "127.0.0.1:1", help: "where"),
      Setting("idle-time", .duration(1...3_600), default: "5m", help: "how long"),
      Setting("cache", .bytes(1...(1 << 40)), default: "64M", help: "how much"),
      Setting("rate", .integer(1...100), default: "5", help: "how often"),
      Setting("form", .choice(["json", "logfmt"]), default: "json", help: "which"),
      Setting("key", .path, help: "a file"),
      Setting("relay", .text, help: "an address"),
    ])

  func testFilesAreReadOrRefused() throws {
    var mutator = Mutator()
    print("seed \(mutator.seed)")
    let seeds = [
      """
      # a comment
      listen = [::1]:443
      idle-time = 1h # another
      cache=1099511627776
      rate = 17
      form = logfmt
      key = /etc/tool.key
      relay = https://relay.example.org#AbC-_
      """,
      "listen=0.0.0.0:80\r\nidle-time = 90s\r\n\r\ncache = 64M\r\nrelay = https://user:word@relay.example.org\r\n",
      "   # only a comment\n\n\tform\t=\tjson\t# ü\nrate = 1", "",
    ].map { Array($0.utf8) }
    var (read, refused) = (0, 0)
    for _ in 0..<mutator.runs {
      let file = String(decoding: mutator.bytes(like: seeds), as: UTF8.self)
      let flag = mutator.text(like: "--idle-time=1h")
      do {
        let settings = try settings([flag], file)
        read += 1
        let again = try self.settings([], settings.listing)
        XCTAssertEqual(values(of: again), values(of: settings), file)
      } catch let error as SettingsError {
        refused += 1
        XCTAssertFalse(error.description.isEmpty)
      }
    }
    XCTAssertGreaterThan(read, mutator.runs / 20)
    XCTAssertGreaterThan(refused, mutator.runs / 10)
  }

  private func settings(_ arguments: [String], _ file: String) throws -> Settings {
    let request = try table.request(arguments: arguments, environment: [:], read: { _ in .init(file) })
    switch request {
    case .command(_, let settings), .printing(let settings): return settings
    case .document: throw SettingsError("help")
    }
  }

  /// Users in addresses are not listed.
  private func values(of settings: Settings) -> [String?] {
    table.settings.map { settings.text($0.name).map(AddressUsers.hidden) }
  }
}
