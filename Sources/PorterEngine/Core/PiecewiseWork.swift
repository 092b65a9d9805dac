import PorterPlatform

/// Pieces of work that are done one after the other: in one turn as long as they are quick, and after one that took long, such as one
/// that waited for a store that fails, in later ones. What the host asks for comes between. Threads: the engine's.
final class PiecewiseWork {
  private let clock: any Clock
  private let later: (@escaping () -> Void) -> Void
  private var all: [() -> Void] = []
  private var rest: ArraySlice<() -> Void> = []
  private var isToRepeat = false
  /// Of the work that was begun last; what waits for a turn may be of an earlier one.
  private var number = 0

  init(clock: any Clock, later: @escaping (@escaping () -> Void) -> Void) {
    self.clock = clock
    self.later = later
  }

  var isUnderWay: Bool { !rest.isEmpty }

  /// In place of what is left of an earlier one.
  func begin(_ pieces: [() -> Void]) {
    all = pieces
    start()
  }

  /// Does all of what is under way once more when it has ended.
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
