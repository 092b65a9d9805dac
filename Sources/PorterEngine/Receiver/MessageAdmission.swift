import PorterMachines

/// Whether a fetch may take in a message delivered by its source. A value.
///
/// What an app commits after its user has left is shown by no process until the next push or round. Left
/// unacknowledged, it is what the next push is about.
enum MessageAdmission: CaseIterable {
  /// The fetch asked for it while allowed to.
  case asked
  /// Came unasked with the answer to an acknowledgement.
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
