import PorterPlatform
import PorterRelay

/// What a listener leaves. The pushes for it were left to the client, which was awake and has not fetched; without others the messages
/// would wait for the next ones.
extension ClusteredRelay {
  /// Again after these, when the cluster gives no answer.
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

  /// One that the service has not taken yet, it gets twice, and the device recognises that.
  private func notifyAgain(_ recipient: RelayIdentifier) async throws(ExchangeFailure) {
    let key = ClusterKey.text(identifiers.parts(.recipient, of: recipient).mailbox)
    try await settle([key])
    guard let mailbox = try await find(.recipient, recipient, .settled), let service = mailbox.record.notifier?.service
    else { return }
    // The client listens at another relay by now.
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
  /// Has an exchange's time.
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
