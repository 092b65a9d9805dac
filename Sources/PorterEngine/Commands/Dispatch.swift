import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// From a command to its answer. A command that needs the relay answers later; all others immediately.
extension Engine {
  typealias Reply = (Answer) -> Void

  /// Calls `reply` exactly once, on the engine's thread.
  func handle(_ command: Command, retry: Int, reply: @escaping Reply) {
    context.stop.answering { carryOut(command, retry: retry, reply: reply) }
  }

  private func carryOut(_ command: Command, retry: Int, reply: @escaping Reply) {
    if let what = command.whatIsNotAllowed(in: context.role) {
      return reply(.error(.nightporter(.roleNotAllowed(what))))
    }
    switch command {
    case .addContact(let user, let incognito):
      answerLater(reply) { [self] () throws(ChatError) in try addContact(user, incognito: incognito, reply: reply) }
    case .connect(let user, let link, let incognito):
      answerLater(reply) { [self] () throws(ChatError) in
        try connect(user, link: link.text, incognito: incognito, reply: reply)
      }
    case .createAddress(let user):
      answerLater(reply) { [self] () throws(ChatError) in try createAddress(user, reply: reply) }
    case .acceptContact(let id, let incognito):
      answerLater(reply) { [self] () throws(ChatError) in try acceptContact(id, incognito: incognito, reply: reply) }
    case .registerToken(let token, let mode):
      answerLater(reply) { [self] () throws(ChatError) in
        try requireStarted()
        _ = try requireActiveUser()
        _ = try requireRelay()
        try tokens.register(token, mode, retry: retry, reply: reply)
      }
    case .verifyToken(let token, let nonce, let code):
      answerLater(reply) { [self] () throws(ChatError) in
        try requireNetwork()
        try tokens.verify(token, nonce: nonce, code: code, retry: retry, reply: reply)
      }
    case .checkToken(let token):
      answerLater(reply) { [self] () throws(ChatError) in
        try requireNetwork()
        try tokens.check(token, retry: retry, reply: reply)
      }
    case .deleteToken(let token):
      answerLater(reply) { [self] () throws(ChatError) in
        try requireStarted()
        try tokens.delete(token, reply: reply)
      }
    case .stopChat: stopChat(reply: reply)
    case .connectionMessages(let requests):
      answerLater(reply) { [self] () throws(ChatError) in try connectionMessages(requests, reply: reply) }
    case .subscribeScope(let request):
      answerLater(reply) { [self] () throws(ChatError) in try subscribeScope(request, reply: reply) }
    case .testNotificationServer(let address):
      answerLater(reply) { [self] () throws(ChatError) in try testServer(address, reply: reply) }
    default: reply(Answer(catching: { [self] () throws(ChatError) in try answer(command) }))
    }
  }

  /// Runs a command whose answer comes through `reply`; replies with the error if it fails before a request is sent.
  private func answerLater(_ reply: Reply, _ work: () throws(ChatError) -> Void) {
    do throws(ChatError) { try work() } catch { reply(.error(error)) }
  }

  private func answer(_ command: Command) throws(ChatError) -> Response {
    switch command {
    case .showActiveUser: .activeUser(UserRecord(try requireActiveUser()))
    case .createUser(let profile): try createUser(profile)
    case .listUsers: try listUsers()
    case .setActiveUser(let id, let password): try switchUser(id, password)
    case .updateProfile(let id, let profile): try updateProfile(id, profile)
    case .muteUser(let id): try setUserNotifications(id, shown: false)
    case .unmuteUser(let id): try unmuteUser(id)
    case .startChat(let mainApp, _): try startChat(mainApp: mainApp)
    case .checkRunning: lifecycle.isStarted ? .chatRunning : .chatStopped
    case .activateChat(let restores): try activateChat(restores: restores)
    case .suspendChat(let delay): try suspendChat(delay)
    case .setDozing(let dozes): try setDozing(dozes)
    case .setPhase(let phase): try setPhase(phase)
    case .resubscribeAll: try resubscribe()
    case .setNetwork(let settings): try setNetwork(settings)
    case .setNetworkInformation, .setFilePaths: .cmdOk(nil)
    case .getToken: try tokens.registered()
    case .notifiedConnections(let nonce, let sealed): try notifiedConnections(nonce: nonce, sealed: sealed)
    case .listScopes: try listScopes()
    case .deleteScope(let name): try deleteScope(name)
    case .listApplicationPushes(let name): try listApplicationPushes(scope: name)
    case .settleApplicationPushes(let ids): try settleApplicationPushes(ids)
    case .getChats(let user, let pending, let page, let query): try listChats(user, pending, page, query)
    case .getChat(let chat, let page, let search): try getChat(try contactID(chat), page, search: search)
    case .readChat(let chat): try readChat(contactID: try contactID(chat), items: nil)
    case .readItems(let chat, let items): try readChat(contactID: try contactID(chat), items: items)
    case .readUser(let id): try readUser(id)
    case .markUnread(let chat, let unread): try markUnread(contactID: try contactID(chat), unread)
    case .setChatSettings(let chat, let settings): try changeSettings(contactID: try contactID(chat), settings)
    case .send(let chat, let messages, let options):
      try sendMessages(contactID: try contactID(chat), messages, options)
    case .sendByName(let name, let message): try sendMessages(contactID: try contactID(named: name), [message])
    case .updateItem(let chat, let item, let message, let isLive):
      try updateItem(contactID: try contactID(chat), item, message, isLive: isLive)
    case .deleteItems(let chat, let items, let mode): try deleteItems(contactID: try contactID(chat), items, mode)
    case .react(let chat, let item, let adds, let reaction):
      try react(contactID: try contactID(chat), item, adds: adds, reaction)
    case .setReceipts(let user, let sends, let overrides):
      try setReceipts(user, sends, overridesContacts: overrides)
    case .deleteChat(let chat, let deletion, let tellsPeer): try deleteChat(chat, deletion, tellsPeer: tellsPeer)
    case .listContacts(let user): try listContacts(userID: try userID(user))
    case .saveAppSettings(let settings): try saveAppSettings(settings)
    case .getAppSettings(let platform): try getAppSettings(platform: platform)
    case .getCalls: .callInvitations(try calls.invitations())
    case .call(let contact, let command): .cmdOk(UserRecord(try calls.act(command, contactID: contact)))
    case .showAddress(let user): try showAddress(user)
    case .deleteAddress(let user): try deleteAddress(user)
    case .setProfileAddress(let user, let isShown): try setProfileAddress(user, isShown)
    case .setAddressSettings(let user, let settings): try setAddressSettings(user, settings)
    case .rejectContact(let id): try rejectContact(id)
    case .encryptFiles(false): .cmdOk(nil)
    case .encryptFiles(true): throw .nightporter(.notSupported("files"))
    case .encryptStorage(let current, let new): try encryptStorage(from: current, to: new)
    case .hideUser(let id, let password): try hideUser(id, password)
    case .unhideUser(let id, let password): try unhideUser(id, password)
    case .deleteUser(let id, let deletesMailboxes, let password):
      try deleteUser(id, deletesMailboxes: deletesMailboxes, password)
    case .deleteStorage: throw .nightporter(.notSupported("deleting the store through a command"))
    case .connectionPlan(let user, let link): try planConnection(user, link: link.text)
    case .setContactAlias(let id, let alias): try setContactAlias(id, alias)
    case .setConnectionAlias(let id, let alias): try setConnectionAlias(id, alias)
    case .setCustomData(let id, let data): try setCustomData(id, data)
    case .setContactPreferences(let id, let preferences): try setContactPreferences(id, preferences)
    case .listGroups(let id): try listGroups(id)
    case .stopChat, .addContact, .connect, .createAddress, .acceptContact, .registerToken, .verifyToken, .checkToken,
      .deleteToken,
      .connectionMessages, .subscribeScope, .testNotificationServer:
      throw .internal("a command that is answered later reached the wrong place")
    }
  }

  private func contactID(_ chat: ChatReference) throws(ChatError) -> Int64 {
    switch chat {
    case .contact(let id): id
    case .pendingConnection: throw .nightporter(.notSupported("this command for a connection without a contact"))
    case .group: throw .nightporter(.notSupported("groups"))
    case .noteFolder: throw .nightporter(.notSupported("note folders"))
    }
  }

  private func contactID(named name: String) throws(ChatError) -> Int64 {
    let store = try requireStore()
    let user = try requireActiveUser()
    let contact = try stored { () throws(StoreError) in try store.contact(userID: user.id, localName: name)
    }
    guard let contact else { throw .store(.contactNotFoundByName(name)) }
    return contact.id
  }

  func userID(_ selection: UserSelection) throws(ChatError) -> Int64 {
    switch selection {
    case .active: try requireActiveUser().id
    case .id(let id): id
    }
  }
}

extension Answer {
  init(catching work: () throws(ChatError) -> Response) {
    do throws(ChatError) { self = .result(try work()) } catch { self = .error(error) }
  }
}
