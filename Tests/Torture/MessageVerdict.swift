import PorterStore

/// The final state of messages: each once, as last changed, with the reactions of both sides.
struct MessageVerdict {
  let torture: Torture
  private var tally: Tally { torture.tally }
  private var promises: Promises { torture.promises }

  init(torture: Torture) { self.torture = torture }

  func judge(_ tortured: StoreContents) throws {
    var written: [StoreContents.Message] = []
    for person in torture.place.people {
      let contents = try StoreContents(person.store, person.key, tally)
      defer { contents.close() }
      try contents.inspect(badge: nil)
      let own = try contents.messages(contact: person.contact, sent: true)
      compare(own, try tortured.messages(contact: person.contactThere, sent: false), "\(person.name)'s messages")
      try keep(own, of: person.name)
      react(own, person.name, torture.place.name)
      let replies = try tortured.messages(contact: person.contactThere, sent: true)
      compare(replies, try contents.messages(contact: person.contact, sent: false), "replies to \(person.name)")
      react(replies, torture.place.name, person.name)
      written += replies
      for isSent in [true, false] {
        try compareCalls(
          from: isSent ? contents : tortured, isSent ? person.contact : person.contactThere,
          to: isSent ? tortured : contents, isSent ? person.contactThere : person.contact)
      }
    }
    try keep(written, of: torture.place.name)
  }

  /// The other side has the same: each message once, in the same order, with the same text and the same reactions.
  private func compare(_ sent: [StoreContents.Message], _ received: [StoreContents.Message], _ what: String) {
    let names = received.map(\.shared)
    if Set(names).count != names.count { tally.problem("\(what): some are there twice") }
    if sent.map(\.shared) != names { tally.problem("\(what): \(sent.count) were sent and \(received.count) are there") }
    let byName = Dictionary(received.map { ($0.shared, $0) }) { first, _ in first }
    for message in sent {
      guard let other = byName[message.shared] else { continue }
      if message.isDeleted != other.isDeleted { tally.problem("\(what): \(message.key) is deleted on one side only") }
      guard !message.isDeleted, !other.isDeleted else { continue }
      if message.text != other.text {
        tally.problem("\(what): \(message.key) is \(message.text.prefix(40)) here, and \(other.text.prefix(40)) there")
      }
      // Each side's own reactions are the other's contact's.
      let swapped = other.reactions.map { StoreContents.Message.Reaction(isOwn: !$0.isOwn, text: $0.text) }
      if Set(swapped) != Set(message.reactions) {
        tally.problem("\(what): \(message.key): reactions \(message.reactions) here, and \(swapped) there")
      }
      if !message.reactions.isEmpty { tally.count("compared: messages with reactions") }
      if message.text.contains("|edition") { tally.count("compared: edited messages") }
    }
    tally.count("compared: deleted messages", sent.count { $0.isDeleted })
  }

  /// Everything that processes confirmed holds.
  private func keep(_ messages: [StoreContents.Message], of store: String) throws {
    let byKey = Dictionary(grouping: messages, by: \.key)
    for (key, promise) in promises.messages(of: store) {
      let found = byKey[key] ?? []
      switch promise.answer {
      case .sent where found.count != 1: tally.problem("\(key) was sent, and is there \(found.count) times")
      case .refused where !found.isEmpty: tally.problem("\(key) was refused, and is there \(found.count) times")
      default: if found.count > 1 { tally.problem("\(key) is there \(found.count) times") }
      }
      guard let message = found.first else { continue }
      if promise.isDeleted != message.isDeleted, promise.isDeleted || !promise.mayBeDeleted {
        tally.problem("\(key) is \(message.isDeleted ? "deleted, and was not" : "not deleted, and was")")
      }
      if !message.isDeleted, !promise.versions.contains(message.text) {
        tally.problem("\(key) says \(message.text.prefix(40)), not \(promise.versions.sorted().map { $0.prefix(40) })")
      }
      if key.hasPrefix("share ") { tally.count("compared: shared messages") }
    }
  }

  private func react(_ messages: [StoreContents.Message], _ author: String, _ reader: String) {
    for message in messages where !message.isDeleted {
      for emoji in ["👍", "👎", "🚀"] {
        for (side, isOwn) in [(author, true), (reader, false)] {
          let isThere = message.reactions.contains { $0.isOwn == isOwn && $0.text.contains(emoji) }
          if !promises.mayHaveReacted(side, message.key, emoji).contains(isThere) {
            tally.problem("\(message.key): \(side)'s \(emoji) is \(isThere ? "there" : "missing")")
          }
        }
      }
    }
  }

  // MARK: Calls

  /// An invitation arrives once, or was withdrawn before it was sent.
  private func compareCalls(
    from caller: StoreContents, _ contact: Int64, to callee: StoreContents, _ other: Int64
  ) throws {
    let (made, came) = (try caller.calls(contact: contact, sent: true), try callee.calls(contact: other, sent: false))
    let (answered, accepted) = (made.count { $0 != "missed" }, came.count { $0 == "ended" || $0 == "error" })
    if came.count > made.count { tally.problem("\(caller.name) called \(made.count) times, and \(came.count) came") }
    if answered > came.count {
      tally.problem("\(caller.name): \(answered) calls were answered, and \(came.count) came")
    }
    if answered > accepted {
      tally.problem("\(caller.name): \(answered) calls were answered, of which \(accepted) were accepted there")
    }
    tally.count("compared: calls", came.count)
  }
}
