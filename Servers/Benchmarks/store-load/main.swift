// Puts the load of pushes on a cluster's shared state, without a relay and a provider:
// `store-load URL TOKENS SIZE PUSHES BATCH RECORDS SECONDS`. TOKENS is the number of tokens, named by
// `scale_jetstream.py`, and RECORDS the number of records with their subscriptions; 0 only creates the streams. A batch
// is a server's unit of work: it reads the records of as many notifiers and their tokens, stores the tokens, adds their
// pushes, takes those, reads the tokens again, stores them once more, and ends the pushes. Does so for SECONDS first,
// prints `ready`, and then one JSON object for PUSHES more.

import Foundation
import PorterServer
import PorterTelemetry

#if JetStream
  import PorterJetStream

  func key(_ bucket: SharedKey.Bucket, _ number: Int) -> SharedKey {
    let digits = String(number)
    return SharedKey(bucket, "n" + String(repeating: "0", count: 31 - digits.count) + digits)
  }

  struct Load {
    let store: JetStreamPushStore
    let tokens: Int
    let records: Int
    let document: [UInt8]

    func read(_ keys: [SharedKey]) throws -> [SharedRecord] {
      let records = try store.records(keys).compactMap { $0 }
      guard records.count == keys.count else { throw SharedStoreFailure("tokens are missing") }
      return records
    }

    func change(_ keys: [SharedKey]) throws {
      let changes = zip(keys, try read(keys)).map { SharedChange($0, document, revision: $1.revision) }
      let revisions = try store.replace(changes)
      guard !revisions.contains(nil) else { throw SharedStoreFailure("another one was faster") }
    }

    func push(_ numbers: [Int]) throws {
      let keys = numbers.map { key(.tokens, $0) }
      // Subscriptions of other notifiers are in the same records.
      let watchers = Set(numbers.map { _ in Int.random(in: 0..<records) })
      _ = try read(watchers.map { SharedKey(.subscriptions, String($0)) })
      try change(keys)
      try store.add(keys.map { SharedWork("push-load", Array($0.name.utf8)) })
      let taken = try store.take("push-load", limit: numbers.count)
      try change(keys)
      try store.end(taken)
    }

    /// Pushes to this many tokens; returns how long that took, without earlier failures, and how often it failed.
    func pushes(_ batch: Int) throws -> (duration: Duration, failures: Int) {
      var failures = 0
      while true {
        var numbers: Set<Int> = []
        while numbers.count < batch { numbers.insert(.random(in: 0..<tokens)) }
        let begin = ContinuousClock.now
        do {
          try push(Array(numbers))
          return (ContinuousClock.now - begin, failures)
        } catch {
          // On a busy machine a call may not be answered in time; a server tries again too.
          failures += 1
          guard failures < 1_000 else { throw error }
          Thread.sleep(forTimeInterval: 0.1)
        }
      }
    }
  }

  func run(_ arguments: [String]) throws {
    let numbers = arguments.dropFirst(2).compactMap { Int($0) }
    guard arguments.count == 8, numbers.count == 6 else {
      throw SharedStoreFailure("usage: store-load URL TOKENS SIZE PUSHES BATCH RECORDS SECONDS")
    }
    let (tokens, size, pushes, batch, records) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    var options = JetStreamOptions(cluster: NATSOptions(servers: arguments[1]))
    options.replicas = 1
    options.files = FileManager.default.temporaryDirectory.appendingPathComponent("store-load-\(getpid())-").path
    let store = JetStreamPushStore(options, log: LogWriter(minimum: .error, form: .logfmt))
    defer { store.close() }
    let load = Load(store: store, tokens: tokens, records: records, document: [UInt8](repeating: 7, count: size))
    guard tokens > 0 else {
      _ = try store.records([SharedKey(.settings, "identity")])
      return
    }
    // Until replaced versions are deleted as fast as new ones are stored, and the followers know as much as they ever
    // will.
    let end = ContinuousClock.now + .seconds(numbers[5])
    while ContinuousClock.now < end { _ = try load.pushes(batch) }
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    var (spent, failures): ([Duration], Int) = ([], 0)
    while spent.count < max(1, pushes / batch) {
      let (duration, failed) = try load.pushes(batch)
      spent.append(duration)
      failures += failed
    }
    spent.sort()
    let total = spent.reduce(.zero, +)
    print(
      #"{"perSecond":\#(Int(Double(spent.count * batch) / (total / .seconds(1)))),"#
        + #""p50":\#(spent[spent.count / 2] / .milliseconds(1)),"p99":\#(spent[spent.count * 99 / 100] / .milliseconds(1)),"failures":\#(failures)}"#
    )
  }

  do { try run(CommandLine.arguments) } catch {
    FileHandle.standardError.write(Data("store-load: \(error)\n".utf8))
    exit(1)
  }
#else
  fatalError("built without JetStream")
#endif
