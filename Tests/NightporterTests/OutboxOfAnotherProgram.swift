import PorterPlatform
import PorterStore
import XCTest

@testable import PorterEngine

extension Host {
  /// Puts messages into the outbox that this library would not send, as another program of a contact's might. This host
  /// is suspended; it sends them when it is activated.
  func putIntoOutbox(_ messages: [ChatMessage], connectionID: Int64 = 1) throws {
    let store = try Store.open(at: StoreLocation(prefix: prefix), confirmation: .yesUp, mayMigrate: true)
    defer { try? store.close(checkpoint: false) }
    try store.transaction { () throws(StoreError) in
      guard var ratchet = try store.ratchet(connectionID: connectionID) else { throw .notFound(.connection) }
      for message in messages {
        try store.enqueue(
          message, connectionID: connectionID, itemID: nil, with: &ratchet, attempt: SystemRandomness().bytes(24))
      }
      try store.save(ratchet, connectionID: connectionID)
    }
  }
}
