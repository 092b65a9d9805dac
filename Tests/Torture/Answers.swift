import Foundation
import PorterJSON
import PorterNight

/// The promises in the answers of processes.
extension TorturedProcess {
  // MARK: Pushes and rounds

  /// Checks the answer to a push, or of a round in the background.
  func judge(_ answer: JSONValue, _ kind: String) throws {
    guard let outcome = answer["outcome"]?.stringValue else {
      problem("\(kind): \(answer.text.prefix(300))")
      throw Interruption.broken
    }
    torture.tally.count("\(kind) ended: \(outcome)")
    // Only the device's own server pushes here, and no disk loses the token's keys.
    if outcome == "quarantined" {
      problem("a push was quarantined: \(answer["reason"]?.text ?? "")")
    }
    if answer["quiescent"] == true {
      let files = heldStoreFiles()
      if !files.isEmpty { problem("quiescent after a \(kind), and holds \(files)") }
    } else {
      expectRelease(after: answer)
    }
    for notification in answer["notifications"]?.arrayValue ?? [] { note(notification, answer) }
  }

  private func note(_ notification: JSONValue, _ answer: JSONValue) {
    torture.tally.count("notifications")
    torture.responses.noteShown(notification)
    let category = notification["categoryIdentifier"]?.stringValue ?? ""
    torture.tally.count("notifications: \(category)")
    // A summary is shown again with each burst, and after some of its messages were read.
    if category == "NTF_CAT_MANY_EVENTS" { return }
    let isRecorded = !hasFaultyDisk && answer["recorded"] == nil
    let identifier = notification["identifier"]?.stringValue ?? notification.text
    // A notice says each time that the store cannot be read; a message replaces its placeholder, and an edited one
    // replaces itself.
    guard identifier != "np:notice" else { return }
    let name = category == "NTF_CAT_CONNECTION_EVENT" ? "placeholder of \(identifier)" : identifier
    torture.shown("\(name): \(notification["body"]?.stringValue ?? "")", byHealthy: isRecorded)
  }

  /// Time was up while the engine did not run: the answer says that it is not quiescent. It becomes quiescent as soon
  /// as it runs.
  private func expectRelease(after answer: JSONValue) {
    torture.tally.count("answers while the engine did not run")
    let isHonest = answer["outcome"] == "expired" || answer.isLate
    if !isHonest { problem("not quiescent: \(answer.text.prefix(300))") }
    // It may be frozen in the meantime. Where the locks of the index fail, SQLite retries each access for ten seconds.
    let end = Date(timeIntervalSinceNow: hasFaultyDisk ? 150 : 20)
    while !heldStoreFiles().isEmpty {
      guard end.timeIntervalSinceNow > 0 else {
        noteThreads()
        return problem("still holds \(heldStoreFiles()) after \(answer.text)")
      }
      usleep(5_000)
    }
  }

  /// An engine that was frozen when it was asked has not heard the question yet: the answer gives what was known
  /// before, and reports it as busy.
  private func settledState() throws -> JSONValue {
    var state = try call("np_state $c")
    for _ in 0..<20 where state["busy"] != nil {
      usleep(100_000)
      state = try call("np_state $c")
    }
    return state
  }

  /// Quiescent, and no file of the store is open.
  @discardableResult
  func expectQuiescence(_ when: String) throws -> Bool {
    let state = try settledState()
    guard state["quiescent"] == true else {
      problem("\(when): not quiescent: \(state.text)")
      return false
    }
    let files = openStoreFiles()
    if !files.isEmpty { problem("\(when): quiescent, and holds \(files)") }
    return true
  }

  // MARK: Responses

  func respond(_ response: ResponseBook.Response, _ receiver: String) throws {
    torture.responses.noteGiven(response)
    guard let result = try request("np_notification_response $c \(JSONValue(response.json.text).text)", allowing: [])
    else { return }
    torture.tally.count("responses to \(receiver)")
    torture.responses.note(result, of: response)
  }
}
