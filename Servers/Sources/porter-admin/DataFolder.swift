import PorterRelay
import PorterServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder with the data of a relay, a notification server, or both: a server can have its relay alongside.
struct DataFolder {
  enum Part: String, CaseIterable {
    case relay = "relay.db"
    case server = "server.db"

    var name: String {
      switch self {
      case .relay: "relay"
      case .server: "notification server"
      }
    }
  }

  /// Created by a relay for itself; its address contains the key's fingerprint.
  private static let relayIdentity = ["key.pem", "certificate.pem"]

  let path: String
  let parts: [Part]

  init(_ path: String) throws(Failure) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Failure("\(path): \(systemError())") }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Failure("\(path): not a folder") }
    let parts = Part.allCases.filter { exists(path + "/" + $0.rawValue) }
    guard !parts.isEmpty else {
      throw Failure("\(path): neither a relay's data (relay.db) nor a notification server's (server.db)")
    }
    self.init(path, parts)
  }

  private init(_ path: String, _ parts: [Part]) {
    self.path = path
    self.parts = parts
  }

  /// The same data at another location.
  func moved(to path: String) -> DataFolder { DataFolder(path, parts) }

  var name: String { parts.map(\.name).joined(separator: "'s and a ") }

  func file(_ part: Part) -> String { path + "/" + part.rawValue }

  /// Throws unless such data is present.
  func require(_ part: Part) throws(Failure) -> String {
    guard parts.contains(part) else { throw Failure("\(path): no \(part.name)'s data") }
    return file(part)
  }

  /// Locked by the process that serves the folder.
  var lock: String { path + "/" + lockName }

  var lockName: String { parts.contains(.server) ? Part.server.rawValue + ".lock" : "lock" }

  /// Files present alongside the databases that belong to the data.
  var others: [String] {
    parts.contains(.relay) ? Self.relayIdentity.filter { exists(path + "/" + $0) } : []
  }

  /// All files that belong to the data.
  var names: [String] { others + parts.map(\.rawValue) }

  /// All files that could be in the way of such data.
  var possible: [String] {
    parts.flatMap { part in ["", "-wal", "-shm"].map { part.rawValue + $0 } }
      + (parts.contains(.relay) ? Self.relayIdentity : [])
  }

  /// Problems with the data; empty if there are none.
  var problems: [String] {
    parts.flatMap { part in
      switch part {
      case .relay: RelayAdministration(path: file(part)).problems()
      case .server: ServerAdministration(state: file(part)).problems()
      }
    } + identityProblems
  }

  func backUp(_ part: Part, to copy: String) throws {
    switch part {
    case .relay: try RelayAdministration(path: file(part)).backUp(to: copy)
    case .server: try ServerAdministration(state: file(part)).backUp(to: copy)
    }
  }
}

/// A reason to exit with a message.
struct Failure: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

func systemError() -> String { String(cString: strerror(errno)) }

func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
