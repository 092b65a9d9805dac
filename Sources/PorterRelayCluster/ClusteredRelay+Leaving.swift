import PorterPlatform
import PorterRelay

/// Handles messages that a listener leaves behind. Their pushes were left to the client, which was awake but has not
/// fetched; without new pushes the messages would wait for the next ones.
extension ClusteredRelay {
  /// The delays before retrying when the cluster does not answer.
  private static let pauses = [Span.seconds(1), .seconds(5), .seconds(15)]

  /// Returns before it is done.
  func pushAgain(_ left: [RelayIdentifier]) {
    guard !left.isEmpty else { return }
    Task { [self] in
      for mailbox in left { await pushAgain(mailbox) }
    }
  }

  private func pushAgain(_ mailbox: RelayIdentifier) async {
    for pause in Self.pauses.map({ Optional($0) }) + [nil] {
      do throws(ExchangeFailure) {
        return try await ExchangeDeadline.within { () async throws(ExchangeFailure) in try await notifyAgain(mailbox) }
      } catch {
        guard case .failed = error, let pause else { return }
        try? await Task.sleep(for: .milliseconds(pause.milliseconds))
      }
    }
  }

  /// A service that has not taken a notification yet gets it twice, which the device recognises.
  private func notifyAgain(_ recipient: RelayIdentifier) async throws(ExchangeFailure) {
    let key = ClusterKey.text(identifiers.parts(.recipient, of: recipient).mailbox)
    try await settle([key])
    guard let mailbox = try await find(.recipient, recipient, .settled), let service = mailbox.record.notifier?.service
    else { return }
    // The client is now listening at another relay.
    guard await store.hold(key) == 0 else { return }
    let waiting = mailbox.record.waiting.filter {
      $0.hasNotification && !MailboxRecord.isExpired($0.sentAt, at: wall)
    }
    guard !waiting.isEmpty else { return }
    let parts = ClusterKey.Parts(mailbox: mailbox.parts.mailbox, generation: mailbox.record.generation)
    for entry in waiting {
      try await addNotification(entry.message, in: parts, to: service, attempt: try randomIdentifier())
    }
    store.signal(.notification(service: Self.name(of: service)))
  }
}

extension ExchangeDeadline {
  /// Runs `body` with the time of an exchange.
  fileprivate static func within(
    _ body: () async throws(ExchangeFailure) -> Void
  ) async throws(ExchangeFailure) {
    let result: Result<Void, ExchangeFailure> = await $current.withValue(.now + span) {
      do throws(ExchangeFailure) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
