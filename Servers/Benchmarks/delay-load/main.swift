// Sends messages to a relay, and takes the resulting pushes in place of Apple's service, in one process and with one
// clock: `delay-load RELAY-PORT REQUESTS EACH CERTIFICATE KEY CONNECTIONS MOST`. REQUESTS has EACH signed requests per
// device, as written by delay.py. MOST messages at most are under way.
//
// Prints the port for pushes. A line on standard input, `flood SECONDS` or `pace RATE SECONDS`, is answered with one
// JSON object once everything sent has been answered and pushed. Ends with standard input.

import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

func bytes(of path: String) -> [UInt8] {
  guard let file = fopen(path, "re") else { return [] }
  defer { fclose(file) }
  fseek(file, 0, SEEK_END)
  let size = max(0, ftell(file))
  rewind(file)
  return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
    count = fread(buffer.baseAddress, 1, size, file)
  }
}

/// The processor time of the loop's thread, in seconds.
func processorTime(of loop: any EventLoop) throws -> Double {
  try loop.submit {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }.wait()
}

/// Milliseconds at each percentile that a table names, and the longest.
func quantiles(_ times: [Int64]) -> String {
  let sorted = times.sorted()
  func part(_ share: Double) -> Double {
    sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1e6
  }
  return "{\"p50\":\(part(0.5)),\"p90\":\(part(0.9)),\"p99\":\(part(0.99)),\"max\":\(part(1))}"
}

/// A pipe gets it immediately, unlike printed output.
func put(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

let arguments = CommandLine.arguments
guard arguments.count == 8, let relay = Int(arguments[1]), let each = Int(arguments[3]),
  let connections = Int(arguments[6]), let most = Int(arguments[7])
else {
  print("usage: delay-load RELAY-PORT REQUESTS EACH CERTIFICATE KEY CONNECTIONS MOST")
  exit(2)
}
let messages = Messages(bytes(of: arguments[2]), each: each, most: most)
let sending = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let taking = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let (sendingLoop, takingLoop) = (sending.next(), taking.next())
let sender = try Sender.connect(to: relay, messages, connections: connections, on: sendingLoop)
let port = try PushSink.serve(messages, certificate: arguments[4], key: arguments[5], on: taking) {
  sendingLoop.execute { sender.value.pump() }
}
put("\(port)")
while let line = readLine() {
  let words = line.split(separator: " ")
  guard let seconds = words.last.flatMap({ Double($0) }), let rate = words.dropFirst().first.flatMap({ Double($0) })
  else { break }
  let pace = words.count == 3 ? Pace.rate(rate) : .flood
  let time = TimeAmount.nanoseconds(Int64(seconds * 1e9))
  let before = (try processorTime(of: sendingLoop), try processorTime(of: takingLoop))
  let done = sendingLoop.makePromise(of: Void.self)
  let end = NIODeadline.now() + time
  sendingLoop.execute { sender.value.start(pace, for: time, done) }
  try done.futureResult.wait()
  let used = (
    try processorTime(of: sendingLoop) - before.0, try processorTime(of: takingLoop) - before.1
  )
  let missing = messages.underWay
  let counts = messages.takeCounts()
  let early = counts.samples.count { $0.delay < 0 }
  put(
    "{\"sent\":\(counts.sent),\"refused\":\(counts.refused),\"pushed\":\(counts.samples.count),\"missing\":\(missing),"
      + "\"repeated\":\(counts.repeated),\"unknown\":\(counts.unknown),\"early\":\(early),"
      + "\"perSecond\":\(Double(counts.samples.count { $0.pushed < end }) / seconds),"
      + "\"delay\":\(quantiles(counts.samples.map(\.delay))),\"whole\":\(quantiles(counts.samples.map(\.whole))),"
      + "\"processorSeconds\":{\"sender\":\(used.0),\"sink\":\(used.1)}}")
}
