#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A POSIX thread that runs one closure and ends. Dispatch and Foundation are left out for the extension's memory.
package enum WorkerThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// The thread is detached. False when the system has none to give.
  package static func start(stackBytes: Int = 512 * 1_024, _ run: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)
    let body = Unmanaged.passRetained(Body(run))
    #if canImport(Darwin)
      var thread: pthread_t?
      let status = pthread_create(&thread, &attributes, { Self.enter($0) }, body.toOpaque())
    #else
      var thread = pthread_t()
      let status = pthread_create(&thread, &attributes, { Self.enter($0) }, body.toOpaque())
    #endif
    if status != 0 { body.release() }
    return status == 0
  }

  #if canImport(Darwin)
    private static func enter(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
      Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
      return nil
    }
  #else
    private static func enter(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let context else { return nil }
      Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
      return nil
    }
  #endif
}

/// A descriptor that another thread can make readable. A pipe, which every system has.
package final class WakeDescriptor: Sendable {
  package let descriptor: Int32
  private let writing: Int32

  /// Nil when the process has no descriptors left.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
    }
    descriptor = ends[0]
    writing = ends[1]
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  /// Makes the descriptor readable; a full pipe is readable already.
  package func raise() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  package func lower() {
    var buffer = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    while withUnsafeMutableBytes(of: &buffer, { read(descriptor, $0.baseAddress, $0.count) }) == 64 {}
  }
}
