import Foundation
import PorterRelayCluster
import XCTest

@testable import PorterJetStream

/// The required parts of a backup.
final class BackupLayoutTests: XCTestCase {
  private func contents(_ entries: [BackupFile.Entry]) throws -> ClusterAdministrator.Contents {
    let path = NSTemporaryDirectory() + "backup-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let writer = try BackupWriter(path)
    for entry in entries { try writer.write(entry) }
    try writer.finish()
    return try ClusterAdministrator.contents(of: path)
  }

  func testSubscriptionsOfAnotherLayoutAreNotRestored() throws {
    let identity = BackupFile.Entry(kind: .identity, name: "identity", bytes: [1])
    let device = BackupFile.Entry(kind: .device, name: "device", bytes: [2])
    XCTAssertThrowsError(try contents([identity, device])) { error in
      XCTAssertTrue("\(error)".hasSuffix(": the subscriptions are in the layout of another version"), "\(error)")
    }
    let watchers = BackupFile.Entry(kind: .identity, name: "watchers", bytes: [3])
    XCTAssertTrue(try contents([watchers, identity, device]).parts.tokens)
    XCTAssertFalse(try contents([]).parts.tokens)
  }
}
