import CCrypto
import PorterRelayCluster

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file with the contents of a cluster: a sequence of entries, then a digest of them. It does not depend on the
/// version of nats-server, or on the numbers that streams give their messages.
enum BackupFile {
  static let name = "cluster.backup"
  fileprivate static let begin: [UInt8] = Array("porter-cluster-1".utf8)
  /// Larger than any NATS message.
  fileprivate static let mostBytes = 64 << 20
  fileprivate static let digestCount = Int(SHA256_DIGEST_LENGTH)

  /// In the order they are written.
  enum Kind: UInt8, CaseIterable {
    case relaySettings = 1
    /// Precedes the mailbox it belongs to.
    case body
    case mailbox
    case notification
    case request
    case answer
    case identity
    case token
    case device
    case watchers
    case end = 255
  }

  struct Entry: Sendable {
    var kind: Kind
    var name: String
    /// For a body: its number in the mailbox.
    var number: UInt64 = 0
    var bytes: [UInt8]

    fileprivate var header: [UInt8] {
      var header = [kind.rawValue]
      header += big(UInt64(name.utf8.count), 2) + big(number, 8) + big(UInt64(bytes.count), 4)
      return header + Array(name.utf8)
    }
  }

  /// The digest of everything read or written so far.
  fileprivate static func digest(_ before: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: digestCount)
    let all = before + bytes
    _ = SHA256(all, all.count, &digest)
    return digest
  }

  fileprivate static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  fileprivate static func failure(_ path: String) -> ClusterFailure {
    ClusterFailure("\(path): \(String(cString: strerror(errno)))")
  }
}

/// A new file, readable only by its owner. It is incomplete until `finish`, and a reader detects that.
final class BackupWriter {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>
  private var digest: [UInt8] = BackupFile.begin

  init(_ path: String) throws(ClusterFailure) {
    self.path = path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0, let file = fdopen(descriptor, "w") else { throw BackupFile.failure(path) }
    self.file = file
    try put(BackupFile.begin)
  }

  deinit { fclose(file) }

  func write(_ entry: BackupFile.Entry) throws(ClusterFailure) {
    let bytes = entry.header + entry.bytes
    try put(bytes)
    digest = BackupFile.digest(digest, bytes)
  }

  /// The file is durable when this returns.
  func finish() throws(ClusterFailure) {
    try put(BackupFile.Entry(kind: .end, name: "", bytes: digest).header + digest)
    guard fflush(file) == 0, fsync(fileno(file)) == 0 else { throw BackupFile.failure(path) }
  }

  private func put(_ bytes: [UInt8]) throws(ClusterFailure) {
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw BackupFile.failure(path) }
  }
}

final class BackupReader {
  private static let part = 64 << 10

  private let path: String
  private let file: UnsafeMutablePointer<FILE>
  private var digest: [UInt8] = BackupFile.begin

  init(_ path: String) throws(ClusterFailure) {
    self.path = path
    guard let file = fopen(path, "re") else { throw BackupFile.failure(path) }
    self.file = file
    guard try take(BackupFile.begin.count) == BackupFile.begin else {
      throw ClusterFailure("\(path): not a backup of a cluster")
    }
  }

  deinit { fclose(file) }

  /// Nil at the end, which is present only in a complete file.
  func next() throws(ClusterFailure) -> BackupFile.Entry? {
    let begin = try take(15)
    guard let kind = BackupFile.Kind(rawValue: begin[0]) else { throw damaged }
    let count = number(begin[11...])
    guard count <= BackupFile.mostBytes else { throw damaged }
    let name = try take(Int(number(begin[1..<3])))
    let bytes = try take(Int(count))
    if kind == .end {
      guard begin[3..<11].allSatisfy({ $0 == 0 }), name.isEmpty, bytes == digest, fgetc(file) == EOF else {
        throw damaged
      }
      return nil
    }
    digest = BackupFile.digest(digest, begin + name + bytes)
    return BackupFile.Entry(
      kind: kind, name: String(decoding: name, as: UTF8.self), number: number(begin[3..<11]), bytes: bytes)
  }

  private var damaged: ClusterFailure { ClusterFailure("\(path): is damaged") }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  /// A length is only a claim, so memory is used for what is actually read, not for what is announced.
  private func take(_ count: Int) throws(ClusterFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(count, Self.part))
    while bytes.count < count {
      let wanted = min(count - bytes.count, part.count)
      guard fread(&part, 1, wanted, file) == wanted else {
        throw ferror(file) == 0 ? ClusterFailure("\(path): is damaged: it ends too early") : BackupFile.failure(path)
      }
      bytes += part.prefix(wanted)
    }
    return bytes
  }
}
