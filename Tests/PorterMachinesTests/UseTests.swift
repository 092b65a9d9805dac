import Foundation
import PorterMachines
import XCTest

/// The machines decide, which they can only when they are told and obeyed: every event is raised, and every effect is
/// carried out, by some source.
final class UseTests: XCTestCase {
  /// What a machine is called where it is used.
  private static let names = [
    "connection": ["PorterMachines.Connection", "ConnectionMachine"], "subscription": ["SubscriptionMachine"],
    "token_status": ["TokenMachine"], "presence": ["PorterMachines.Presence"],
    "ownership": ["PorterMachines.Ownership"], "push": ["Push.Event", "Push.Effect"],
    "ledger_entry": ["LedgerEntry", "ledgerEntries"],
  ]

  /// Effects for which there is nothing left to do where they are named, with what does it.
  private static let doneElsewhere = [
    "mailbox_fetch emitMarker": "emitted where the relay's answer arrives, since an extension emits it too",
    "operations admit": "whoever asks counts the work where it begins",
  ]

  private struct Source {
    let folder: String
    let text: String
  }

  /// Without comments, and without what is generated or only compiles machines.
  private func sources() throws -> [Source] {
    let root = packageRoot.appendingPathComponent("Sources")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path)
    return try paths.filter {
      $0.hasSuffix(".swift") && !$0.hasPrefix("PorterMachines/") && !$0.hasPrefix("PorterMachineCompiler/")
    }.map { path in
      let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
      let folder = path.split(separator: "/").first.map(String.init) ?? ""
      return Source(folder: folder, text: text.replacing(/\/\/.*/, with: ""))
    }
  }

  private func type(of machine: String) -> String { machine.split(separator: "_").map(\.capitalized).joined() }

  private func identifier(of name: String) -> String {
    let words = name.split(separator: ".").map(String.init)
    return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  private func mentions(_ text: String, _ name: String) -> Bool {
    text.ranges(of: "." + name).contains { range in
      range.upperBound == text.endIndex || !(text[range.upperBound].isLetter || text[range.upperBound].isNumber)
    }
  }

  func testEveryEventIsRaisedAndEveryEffectCarriedOut() throws {
    let sources = try sources()
    XCTAssertGreaterThan(sources.count, 100)
    for machine in MachineCatalog.all {
      let names = Self.names[machine.name] ?? [type(of: machine.name)]
      let users = sources.filter { source in names.contains { source.text.contains($0) } }
      XCTAssertFalse(users.isEmpty, "nobody uses \(machine.name)")
      let folders = Set(users.map(\.folder))
      let near = sources.filter { folders.contains($0.folder) }.map(\.text).joined(separator: "\n")
      let timed = Set(
        machine.timers.compactMap { timer -> String? in
          guard case .start(_, _, let event) = timer else { return nil }
          return machine.events[Int(event)]
        })
      for event in machine.events where !timed.contains(event) {
        XCTAssertTrue(mentions(near, identifier(of: event)), "\(machine.name): nobody raises \(event)")
      }
      // A case that does nothing, or only sorts, carries nothing out.
      let performing = users.map { $0.text.replacing(/case[^:{}]*:\s*(break|nil|false|true)\b/, with: "") }
        .joined(separator: "\n")
      for effect in machine.effects where Self.doneElsewhere["\(machine.name) \(effect)"] == nil {
        XCTAssertTrue(mentions(performing, effect), "\(machine.name): nobody carries out \(effect)")
      }
    }
  }
}
