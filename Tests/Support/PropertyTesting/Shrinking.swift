struct ShrunkFailure {
  var reason: String
  var input: String
  var run: Int
  var shrinks: Int
  var choices: [UInt64]
}

enum PropertyOutcome {
  case held
  case gaveUp(accepted: Int)
  case failed(ShrunkFailure)
}

/// `forAll` without XCTest.
func check<Value>(
  _ generator: Generator<Value>, runs: Int, seed: UInt64, _ property: (Value) throws -> Void
) -> PropertyOutcome {
  var seeds = SplitMix64(state: seed)
  var accepted = 0
  for run in 1...max(runs, 1) * 10 {
    let choices = Choices(seed: seeds.next())
    switch attempt(generator, choices, property) {
    case .held: accepted += 1
    case .discarded: break
    case .failed:
      let shrinker = withoutActuallyEscaping(property) { property in
        var shrinker = Shrinker(smallest: choices.recorded) { candidate in
          let replay = Choices(replaying: candidate)
          guard case .failed = attempt(generator, replay, property) else { return nil }
          return replay.recorded
        }
        shrinker.shrink()
        return (smallest: shrinker.smallest, steps: shrinker.steps)
      }
      // Once more, to report the smallest input's failure instead of the first one's.
      let smallest = Choices(replaying: shrinker.smallest)
      let value = generator.generate(smallest)
      var reason = "the property failed once, but not again with the same input: it is not deterministic"
      do { try property(value) } catch { reason = "\(error)" }
      return .failed(
        ShrunkFailure(
          reason: reason, input: shown(value), run: run, shrinks: shrinker.steps, choices: shrinker.smallest))
    }
    if accepted == runs { return .held }
  }
  return .gaveUp(accepted: accepted)
}

private enum Attempt {
  case held
  case discarded
  case failed
}

private func attempt<Value>(
  _ generator: Generator<Value>, _ choices: Choices, _ property: (Value) throws -> Void
) -> Attempt {
  do {
    try property(generator.generate(choices))
    return .held
  } catch is PropertyDiscard {
    return .discarded
  } catch {
    return .failed
  }
}

/// Searches for the shortest, then smallest, sequence of choices that still fails.
struct Shrinker {
  private(set) var smallest: [UInt64]
  private(set) var steps = 0
  private var budget = 4_000
  private let deadline = ContinuousClock.now + .seconds(20)
  private let stillFails: ([UInt64]) -> [UInt64]?

  /// `stillFails` returns what the generator drew from the candidate if the property fails with it.
  init(smallest: [UInt64], stillFails: @escaping ([UInt64]) -> [UInt64]?) {
    self.smallest = smallest
    self.stillFails = stillFails
  }

  mutating func shrink() {
    var before: [UInt64]
    repeat {
      before = smallest
      deleteRuns()
      zeroRuns()
      lowerEach()
      lowerAndDelete()
      moveOnward()
    } while smallest != before && budget > 0
  }

  /// Takes the candidate if it also fails and is simpler than the best so far.
  private mutating func take(_ candidate: [UInt64]) -> Bool {
    guard budget > 0, isSimpler(candidate, than: smallest) else { return false }
    budget = ContinuousClock.now < deadline ? budget - 1 : 0
    guard let drawn = stillFails(candidate), isSimpler(drawn, than: smallest) else { return false }
    smallest = drawn
    steps += 1
    return true
  }

  private mutating func deleteRuns() {
    var length = smallest.count / 2
    while length > 0 {
      var end = smallest.count
      while end >= length {
        var candidate = smallest
        candidate.removeSubrange(end - length..<end)
        end = take(candidate) ? min(end, smallest.count) : end - max(1, length / 2)
      }
      length = length > 8 ? length / 2 : length - 1
    }
  }

  private mutating func zeroRuns() {
    for length in [32, 8, 2, 1] where length <= smallest.count {
      var start = 0
      while start + length <= smallest.count {
        var candidate = smallest
        for index in start..<start + length { candidate[index] = 0 }
        _ = take(candidate)
        start += length
      }
    }
  }

  /// A count that was drawn before the items it counts can only shrink together with them.
  private mutating func lowerAndDelete() {
    var index = 0
    while index < smallest.count {
      for length in 1...4 {
        var start = index + 1
        while start + length <= min(smallest.count, index + 64), smallest[index] > 0 {
          var candidate = smallest
          candidate[index] -= 1
          candidate.removeSubrange(start..<start + length)
          if !take(candidate) { start += 1 }
        }
      }
      index += 1
    }
  }

  /// Where only a sum matters, a choice becomes 0 at the cost of a later one.
  private mutating func moveOnward() {
    for distance in 1...3 {
      var index = 0
      while index + distance < smallest.count {
        var candidate = smallest
        let (sum, overflow) = candidate[index + distance].addingReportingOverflow(candidate[index])
        candidate[index] = 0
        candidate[index + distance] = sum
        if !overflow { _ = take(candidate) }
        index += 1
      }
    }
  }

  private mutating func lowerEach() {
    var index = 0
    while index < smallest.count {
      // Binary search for the least value that fails, then one lower, because failing need not be monotone.
      var low: UInt64 = 0
      while index < smallest.count, low < smallest[index] {
        let middle = low + (smallest[index] - low) / 2
        var candidate = smallest
        candidate[index] = middle
        if !take(candidate) { low = middle + 1 }
      }
      if index < smallest.count, smallest[index] > 0 {
        var candidate = smallest
        candidate[index] -= 1
        _ = take(candidate)
      }
      index += 1
    }
  }
}

private func isSimpler(_ left: [UInt64], than right: [UInt64]) -> Bool {
  left.count != right.count ? left.count < right.count : left.lexicographicallyPrecedes(right)
}
