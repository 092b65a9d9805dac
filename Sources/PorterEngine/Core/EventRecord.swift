import PorterJSON
import PorterSchema
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Records for tests the types of the events that any process emits, for comparison with the event schema.
///
/// Debug builds only: `PORTER_EVENTS_TO=FILE` appends each type once per process, with one write(2) each.
enum EventRecord {
  #if DEBUG
    private static let known = Mutex<Set<String>>([])
    private static let descriptor: Int32? = getenv("PORTER_EVENTS_TO").flatMap { path in
      let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      return descriptor < 0 ? nil : descriptor
    }
  #endif

  static func note(_ event: Event) { note(making: { event }) }

  static func note(making make: () -> Event) {
    #if DEBUG
      guard let descriptor, let type = make().json["type"]?.stringValue else { return }
      guard known.withLock({ $0.insert(type).inserted }) else { return }
      var line = "\(type)\n"
      line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    #endif
  }
}
