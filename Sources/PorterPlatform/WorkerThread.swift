#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A POSIX thread that runs one closure and ends. Dispatch and Foundation would cost an extension too much memory.
package enum WorkerThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// A joinable thread; must be joined exactly once.
  ///
  /// `@unchecked Sendable`: on Darwin a thread's identifier is a pointer, which is never dereferenced.
  package struct Handle: @unchecked Sendable {
    fileprivate let thread: pthread_t

    /// Waits until the thread has ended and has released everything its closure held. Must be called once, and not by
    /// the thread itself.
    package func join() { pthread_join(thread, nil) }
  }

  /// Starts a detached thread. False if the system is out of threads.
  package static func start(stackBytes: Int = 512 * 1_024, _ run: @escaping @Sendable () -> Void) -> Bool {
    make(detached: true, stackBytes, run) != nil
  }

  /// Starts a thread that must be joined. Nil if the system is out of threads.
  package static func startJoinable(
    stackBytes: Int = 512 * 1_024, _ run: @escaping @Sendable () -> Void
  ) -> Handle? {
    make(detached: false, stackBytes, run)
  }

  private static func make(detached: Bool, _ stackBytes: Int, _ run: @escaping @Sendable () -> Void) -> Handle? {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return nil }
    defer { pthread_attr_destroy(&attributes) }
    if detached { pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)) }
    pthread_attr_setstacksize(&attributes, stackBytes)
    let body = Unmanaged.passRetained(Body(run))
    #if canImport(Darwin)
      var thread: pthread_t?
      let status = pthread_create(&thread, &attributes, { Self.enter($0) }, body.toOpaque())
    #else
      var thread = pthread_t()
      let status = pthread_create(&thread, &attributes, { Self.enter($0) }, body.toOpaque())
    #endif
    guard status == 0 else {
      body.release()
      return nil
    }
    #if canImport(Darwin)
      return thread.map { Handle(thread: $0) }
    #else
      return Handle(thread: thread)
    #endif
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

/// A descriptor that another thread can make readable: one end of a pair of sockets or of a pipe.
package final class WakeDescriptor: Sendable {
  package let descriptor: Int32
  private let writing: Int32

  /// Nil if the process is out of file descriptors.
  package init?() {
    var ends: [Int32] = [-1, -1]
    #if canImport(Darwin)
      guard pipe(&ends) == 0 else { return nil }
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      }
    #else
      // Marked close-on-exec in the same step that creates it: otherwise a program that the host starts on another
      // thread in between would inherit it. Swift does not import pipe2(2).
      guard socketpair(AF_UNIX, SystemDatagrams.unshared(stream: true), 0, &ends) == 0 else { return nil }
    #endif
    descriptor = ends[0]
    writing = ends[1]
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  /// Makes the descriptor readable; a full one is already readable.
  package func raise() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  /// Waits until it is raised. False if the time ran out first.
  package func waits(atMost span: Span) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, Int32(clamping: max(0, span.milliseconds &+ 1))) > 0
  }

  package func lower() {
    var buffer = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    while withUnsafeMutableBytes(of: &buffer, { read(descriptor, $0.baseAddress, $0.count) }) == 64 {}
  }
}
