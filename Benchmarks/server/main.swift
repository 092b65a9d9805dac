// The notification server's own loop, with queries about it on standard input: each line is answered with its turns
// since the last one, the longest of them in nanoseconds, the longest by the processor time of the loop's thread, and
// the processor time of the process so far.
//
//     bench-server RELAY STATE SOCKET
//
// The first line on standard output reports that it is serving. It ends when its standard input ends.

import PorterPlatform
import PorterRelay
import PorterServer

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

func processorTime(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Ends the loop when there are no more queries.
func answerQuestions(about loop: ServerLoop, stop: WakeDescriptor) {
  while readLine() != nil {
    let turns = loop.takeTurns()
    print(
      turns.count, turns.longest.nanoseconds, turns.longestAtWork.nanoseconds,
      processorTime(CLOCK_PROCESS_CPUTIME_ID))
    fflush(nil)
  }
  stop.raise()
}

func serve(_ words: [String]) throws(ServerError) {
  guard words.count == 4, let stop = WakeDescriptor() else { throw .noResources }
  let providers: [String: any PushProvider] = ["apns_test": try LocalProvider(path: words[3])]
  let state = try ServerState(path: words[2], access: .serve, ports: .system)
  let relay = EmbeddedRelay(
    path: words[1], ports: .system, log: .silent, cacheKibibytes: ServerLoop.relayCacheKibibytes)
  defer { relay.close() }
  let server = try NotificationServer(
    state: state, relay: relay, providers: Set(providers.keys), ports: .system,
    log: .standardError(minimum: .warning))
  let loop = try ServerLoop(
    server: server, providers: providers, stop: stop,
    processorTime: { Span(nanoseconds: processorTime(CLOCK_THREAD_CPUTIME_ID)) })
  print("serving")
  fflush(nil)
  nonisolated(unsafe) let asked = loop
  guard WorkerThread.start({ answerQuestions(about: asked, stop: stop) }) else { throw .noResources }
  try loop.run()
  try state.close()
}

do throws(ServerError) {
  try serve(CommandLine.arguments)
} catch {
  print("bench-server: \(error)")
  exit(1)
}
