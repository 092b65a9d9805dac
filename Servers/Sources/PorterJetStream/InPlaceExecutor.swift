import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Runs tasks on the thread that has something for them, such as the one that delivers an answer: for a request to the
/// cluster, waking threads of the pool takes longer than all else that a process does.
///
/// A thread runs tasks only within `run`, and only once the body has returned: what wakes a task may hold a lock. Tasks
/// woken elsewhere run on a thread of Dispatch. So they must not block, and what computes for long does not belong here.
final class InPlaceExecutor: TaskExecutor {
  static let shared = InPlaceExecutor()

  /// The jobs that a thread is about to run.
  private final class Jobs {
    var waiting: [UnownedJob] = []
  }

  /// The `Jobs` of each thread within `run`.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-specific data")
    return key
  }()

  private static var current: Jobs? {
    pthread_getspecific(key).map { Unmanaged<Jobs>.fromOpaque($0).takeUnretainedValue() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if let jobs = Self.current { return jobs.waiting.append(job) }
    DispatchQueue.global().async { Self.run { Self.current?.waiting.append(job) } }
  }

  /// Runs the tasks that `body` wakes, and those that they wake, before it returns. Within another call, that one does.
  static func run(_ body: () -> Void) {
    guard current == nil else { return body() }
    let jobs = Jobs()
    pthread_setspecific(key, Unmanaged.passUnretained(jobs).toOpaque())
    body()
    var next = 0
    while next < jobs.waiting.count {
      let job = jobs.waiting[next]
      next += 1
      if next == jobs.waiting.count { (jobs.waiting, next) = ([], 0) }
      job.runSynchronously(on: shared.asUnownedTaskExecutor())
    }
    withExtendedLifetime(jobs) { _ = pthread_setspecific(key, nil) }
  }
}
