#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The system's identification of a process.
package struct ProcessIdentity: Hashable, Sendable {
  /// See `Instance`.
  package var boot: String
  package var process: Int32
  package var started: Int64

  package init(boot: String, process: Int32, started: Int64) {
    self.boot = boot
    self.process = process
    self.started = started
  }

  /// The running process.
  package static var current: ProcessIdentity {
    let process = getpid()
    return ProcessIdentity(boot: bootIdentifier(), process: process, started: startTime(of: process) ?? 0)
  }

  #if canImport(Darwin)
    private static func bootIdentifier() -> String {
      var size = 0
      guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0 else { return "unknown" }
      var buffer = [UInt8](repeating: 0, count: size)
      guard sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return "unknown" }
      return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func startTime(of process: Int32) -> Int64? {
      var query = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
      var information = kinfo_proc()
      var size = MemoryLayout<kinfo_proc>.stride
      guard sysctl(&query, 4, &information, &size, nil, 0) == 0, size > 0 else { return nil }
      let start = information.kp_proc.p_starttime
      return Int64(start.tv_sec) * 1_000_000 + Int64(start.tv_usec)
    }
  #else
    private static func bootIdentifier() -> String {
      let bytes = readWhole("/proc/sys/kernel/random/boot_id")
      return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
    }

    /// Field 22 of `/proc/PID/stat`; the name in field 2 may contain spaces and parentheses, so it is skipped from its
    /// end.
    private static func startTime(of process: Int32) -> Int64? {
      let bytes = readWhole("/proc/\(process)/stat")
      guard let name = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
      var fields = TextFields(bytes[(name + 1)...], separator: UInt8(ascii: " "))
      // A blank follows the name; the field before it is empty.
      for _ in 0..<20 { _ = fields.next() }
      return fields.next().flatMap { Int64($0) }
    }

    private static func readWhole(_ path: String) -> [UInt8] {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return [] }
      defer { close(descriptor) }
      var buffer = [UInt8](repeating: 0, count: 1_024)
      let count = read(descriptor, &buffer, buffer.count)
      return Array(buffer.prefix(max(0, count)))
    }
  #endif
}

/// One process's tenancy. Stored claims and phases name an instance, never a role or a process name (INC-06).
package struct Instance: Hashable, Sendable, CustomStringConvertible {
  /// Identifies the boot of the system; a pid and a `Moment` mean nothing across two boots.
  package var boot: String
  package var process: Int32
  /// When the process started, in the kernel's own unit; distinguishes a recycled pid from its first holder.
  package var started: Int64
  package var nonce: [UInt8]

  package init(boot: String, process: Int32, started: Int64, nonce: [UInt8]) {
    self.boot = boot
    self.process = process
    self.started = started
    self.nonce = nonce
  }

  /// This process, with a separate nonce for each controller.
  package init(_ ports: Ports) {
    let identity = ports.identity ?? .current
    self.init(
      boot: identity.boot, process: identity.process, started: identity.started, nonce: ports.randomness.bytes(8))
  }

  /// The running process.
  package static func current(randomness: any Randomness) -> Instance { Instance(Ports(randomness: randomness)) }

  package var description: String { "\(process)@\(started)/\(TextEncoding.hex(nonce))" }

  /// The stored form: `boot:process:started:nonce`.
  package var stored: String { "\(boot):\(process):\(started):\(TextEncoding.hex(nonce))" }

  package init?(stored: String) {
    var fields = TextFields(stored, separator: UInt8(ascii: ":"))
    guard let boot = fields.next(), let process = fields.next().flatMap({ Int32($0) }),
      let started = fields.next().flatMap({ Int64($0) }), let nonce = fields.next().flatMap(TextEncoding.hexDecoded),
      fields.isAtEnd
    else { return nil }
    self.init(boot: boot, process: process, started: started, nonce: nonce)
  }
}
