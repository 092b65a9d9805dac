/// The events of all machines of one engine, first in, first out.
///
/// An event posted while another one's effects are carried out waits for its turn. So a step's effects happen in the
/// order in which the machine's file lists them, whatever they cause, and everything happens in the order requested.
package final class StepQueue {
  private var waiting: [() -> Void] = []
  private var next = 0
  package private(set) var isRunning = false

  package init() {}

  /// Takes the step after those waiting. If no step is in progress, it has been taken on return, with everything it
  /// caused.
  package func post(_ step: @escaping () -> Void) {
    waiting.append(step)
    guard !isRunning else { return }
    isRunning = true
    while next < waiting.count {
      let step = waiting[next]
      next += 1
      step()
    }
    waiting.removeAll(keepingCapacity: true)
    next = 0
    isRunning = false
  }
}
