// Debug builds only, like the places where a process is killed: a source is internal to the engine.
#if DEBUG
  import PorterJSON
  import PorterMachines
  import PorterPlatform
  import PorterSchema
  import PorterStore

  @testable import PorterEngine

  /// An inbox as the message source of one connection: no relay, no ratchet.
  final class InboxSource: Source {
    static let connectionID: Int64 = 1
    private let context: EngineContext
    private let inbox: Inbox

    init(_ context: EngineContext, _ inbox: Inbox) {
      self.context = context
      self.inbox = inbox
    }

    /// A sealed hint is the text of one message's identifier.
    func read(_ hint: SourceHint, _ store: Store) throws(StoreError) -> SourceHintReading {
      let named = [NamedConnection(id: Self.connectionID, record: nil)]
      switch hint {
      case .everything: return .named(named, isRepeat: false)
      case .sealed(_, let bytes):
        guard let identifier = String(validating: bytes, as: UTF8.self) else { return .unreadable("not a text") }
        let known = try store.ledgerEntry(connectionID: Self.connectionID, messageID: Array(identifier.utf8))
        guard known?.isReceived != true else { return .named(named, isRepeat: true) }
        let expected = ExpectedMessage(identifier: Array(identifier.utf8), timestamp: context.clock.wall())
        return .named(
          [NamedConnection(id: Self.connectionID, record: nil, expected: known == nil ? [expected] : [])],
          isRepeat: false)
      }
    }

    var endsRequestsInTime: Bool { false }

    func listen(to connections: [StoredConnection], then: @escaping (Result<[Int64], SourceError>) -> Void) {
      switch inbox.mood {
      case .neverAnswers: return
      case .isUnreachable: return context.later { then(.failure(.timeout)) }
      case .answers, .losesAcknowledgements: break
      }
      let isMine = connections.contains { $0.id == Self.connectionID }
      let waits = isMine && inbox.first != nil
      context.later { then(.success(waits ? [Self.connectionID] : [])) }
    }

    func validate(_ connection: StoredConnection) throws(StoreError) {}

    func fetch(_ claimed: ClaimedConnection, then: @escaping (Result<SourceMessage?, SourceError>) -> Void) {
      inbox.takeInterruption()?()
      switch inbox.mood {
      case .neverAnswers: return
      case .isUnreachable: return context.later { then(.failure(.timeout)) }
      case .answers, .losesAcknowledgements: break
      }
      let message = inbox.first.map {
        SourceMessage(
          identifier: Array($0.identifier.utf8), timestamp: context.clock.wall(), body: Array($0.text.utf8))
      }
      context.later { then(.success(message)) }
    }

    func open(
      _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
    ) throws(StoreError) -> OpenedMessage {
      guard let contactID = connection.contactID else { return OpenedMessage(.quarantined("no contact")) }
      guard let text = String(validating: message.body, as: UTF8.self), !text.isEmpty else {
        return OpenedMessage(.quarantined("not a text"))
      }
      let item = try store.insertReceivedItem(
        contactID: contactID, content: MessageContent.text(text).json.text, sharedID: message.identifier,
        itemAt: message.timestamp, at: context.clock.wall())
      return OpenedMessage(.item(item))
    }

    func acknowledge(
      _ message: SourceMessage, _ claimed: ClaimedConnection,
      then: @escaping (Result<NextMessage, SourceError>) -> Void
    ) {
      guard inbox.mood != .losesAcknowledgements else { return context.later { then(.failure(.timeout)) } }
      inbox.acknowledge(String(decoding: message.identifier, as: UTF8.self))
      // The engine must ask what is next.
      context.later { then(.success(.unknown)) }
    }
  }

  extension Configuration {
    /// Takes messages from this inbox instead of the mailboxes at the relay.
    package func receiving(from inbox: Inbox) -> Configuration {
      var configuration = self
      configuration.makeSource = { InboxSource($0.context, inbox) }
      return configuration
    }
  }
#endif
