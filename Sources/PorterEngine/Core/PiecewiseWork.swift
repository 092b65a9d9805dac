import PorterPlatform

/// Pieces of work done one after the other: in one turn as long as they are quick, and in later turns after a slow one,
/// such as one that waited for a failing store. The host's requests come in between. Threads: the engine's.
final class PiecewiseWork {
  private let clock: any Clock
  private let later: (@escaping () -> Void) -> Void
  private var all: [() -> Void] = []
  private var rest: ArraySlice<() -> Void> = []
  private var isToRepeat = false
  /// Number of the work begun last; a continuation waiting for a turn may belong to an earlier one.
  private var number = 0

  init(clock: any Clock, later: @escaping (@escaping () -> Void) -> Void) {
    self.clock = clock
    self.later = later
  }

  var isUnderWay: Bool { !rest.isEmpty }

  /// Starts these pieces, dropping the rest of an earlier run.
  func begin(_ pieces: [() -> Void]) {
    all = pieces
    start()
  }

  /// Repeats the whole current run after it has ended.
  func repeatAfterwards() { isToRepeat = true }

  func end() {
    number += 1
    all = []
    rest = []
  }

  private func start() {
    number += 1
    isToRepeat = false
    rest = all[...]
    run(number)
  }

  private func run(_ begun: Int) {
    let start = clock.now()
    while begun == number, let piece = rest.popFirst() {
      piece()
      guard begun == number else { return }
      if rest.isEmpty {
        if isToRepeat { later { [weak self] in self?.again(begun) } }
      } else if clock.now() - start > Durations.longWork {
        return later { [weak self] in self?.run(begun) }
      }
    }
  }

  private func again(_ begun: Int) {
    if begun == number { start() }
  }
}
