import PorterMachines

/// Whether a fetch may take in the message that its source gave it. A value.
///
/// What an app commits once its user has left is shown by no process until the next push or round. Left unacknowledged, it is
/// what the next push is about.
enum MessageAdmission: CaseIterable {
  /// The fetch asked for it, when it was allowed to.
  case asked
  /// The answer to an acknowledgement brought it, unasked.
  case followed

  func admits(isLeaving: Bool, _ operations: Operations.State) -> Bool {
    guard !isLeaving else { return false }
    let work: OperationKind =
      switch self {
      case .asked: .delivery
      case .followed: .receiving
      }
    if case .stayed = Operations.step(operations, work.begin).answer { return true }
    return false
  }
}
