/// Steps a machine without recursion: an event that is raised while another is carried out waits for its turn.
///
/// Many effects are answered before they return, so that a mailbox of a hundred messages could otherwise be a hundred calls
/// deep.
struct EventPump<Event> {
  private var waiting: [Event] = []
  private var isRunning = false

  /// The event to carry out now; nil when one is being carried out already.
  mutating func offer(_ event: Event) -> Bool {
    waiting.append(event)
    guard !isRunning else { return false }
    isRunning = true
    return true
  }

  /// The next event; nil when there is none, and the pump rests.
  mutating func next() -> Event? {
    guard !waiting.isEmpty else {
      isRunning = false
      return nil
    }
    return waiting.removeFirst()
  }
}
