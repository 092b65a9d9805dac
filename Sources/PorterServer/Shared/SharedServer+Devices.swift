import PorterPlatform
import PorterRelay

/// Which tokens a device has.
extension SharedServer {
  /// Reads the device's tokens, for `noteDevices` to build on.
  func tokens(of device: DeviceName) throws(ServerError) -> [DeviceTokens.Entry] {
    let record = try record(of: device)
    devices[device] = record
    return record.entries
  }

  private func record(of device: DeviceName) throws(ServerError) -> DeviceRecord {
    let record = try asking { [index] (store) throws(SharedStoreFailure) in try index.device(device, in: store) }
    // Nothing in it can be kept: the daily check notes it again.
    if record.tokens == nil { log(.error, "a record of devices does not read") }
    return record
  }

  /// Returns tokens of which nothing may be stored because another server has given the device a token since this one
  /// looked.
  func noteDevices(_ documents: [TokenDocument]) throws(ServerError) -> Set<[UInt8]> {
    for document in documents {
      if let found = devices[document.device] {
        guard try note(document, in: found) else { return [document.id] }
      } else {
        try noteDevice(of: document, unlessFound: false)
      }
    }
    return []
  }

  /// Notes tokens that their devices do not lead to, and moves what records of earlier versions say.
  func ensureDevices(_ documents: [TokenDocument]) throws(ServerError) {
    for document in documents { try noteDevice(of: document, unlessFound: true) }
  }

  private func noteDevice(of document: TokenDocument, unlessFound: Bool) throws(ServerError) {
    for _ in 0..<Self.mostTries {
      let found = try record(of: document.device)
      if unlessFound, !found.lacks(document) { return }
      if try note(document, in: found) { return }
    }
    throw .cluster("too many changes of one record at the same time")
  }

  /// Whether it is noted: nothing has changed since the record was read.
  private func note(_ document: TokenDocument, in found: DeviceRecord) throws(ServerError) -> Bool {
    try asking { (store) throws(SharedStoreFailure) in
      guard try store.replace([found.noting(document)])[0] != nil else { return false }
      if let earlier = found.earlier {
        // Refused if a server of an earlier version has noted another token: then the daily check moves that.
        _ = try store.replace([SharedChange(found.device.earlierKey, [], revision: earlier.revision)])
      }
      return true
    }
  }
}
