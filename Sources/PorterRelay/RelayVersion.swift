import Synchronization

/// Which commands a relay knows among those added after the first twelve. An earlier relay answers `syntax`, and is
/// then asked with commands that it knows.
final class RelayVersion: Sendable {
  private struct Known {
    /// The relay knows no command from this one on.
    var refused: RelayCommand.Tag?
    var requestsLeft = 0
  }

  /// How many requests use the earlier way before the relay is asked again: it may have been upgraded.
  private static let memory = 1_000

  private let known = Mutex(Known())

  /// `tag` is that of the current way's command.
  func exchange<Answer>(
    _ tag: RelayCommand.Tag, _ current: () throws(RelayError) -> Answer,
    orEarlier earlier: () throws(RelayError) -> Answer
  ) throws(RelayError) -> Answer {
    if isRefused(tag) { return try earlier() }
    do throws(RelayError) { return try current() } catch {
      guard error == .syntax else { throw error }
      refuse(tag)
      return try earlier()
    }
  }

  /// A relay that does not know a command knows none added after it.
  private func isRefused(_ tag: RelayCommand.Tag) -> Bool {
    known.withLock { known in
      guard let refused = known.refused, tag.rawValue >= refused.rawValue else { return false }
      known.requestsLeft -= 1
      if known.requestsLeft == 0 { known.refused = nil }
      return true
    }
  }

  private func refuse(_ tag: RelayCommand.Tag) {
    known.withLock { known in
      guard known.refused.map({ tag.rawValue < $0.rawValue }) ?? true else { return }
      known = Known(refused: tag, requestsLeft: Self.memory)
    }
  }
}
