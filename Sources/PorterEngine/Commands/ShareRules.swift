import PorterSchema

extension Command {
  /// What the command does that is the app's alone; nil for what a share extension may do: it sends, and reads what its user
  /// chooses from. A new command has to be decided here.
  var whatShareMayNotDo: NightporterError.StaticText? {
    switch self {
    case .showActiveUser, .listUsers, .getChats, .getChat, .listContacts, .listGroups, .getAppSettings: nil
    // A live message is continued with edits.
    case .send, .sendByName, .updateItem: nil
    case .startChat, .stopChat, .checkRunning, .activateChat, .suspendChat, .setPhase: nil
    case .setFilePaths, .setNetworkInformation, .encryptFiles: nil
    // Hosts send the network's settings, most of which have no effect here, at each start.
    case .setNetwork(let settings): settings == NetworkSettings() ? nil : "setting the relay or the notification server"
    case .createUser, .setActiveUser, .hideUser, .unhideUser, .muteUser, .unmuteUser, .deleteUser, .updateProfile:
      "changing profiles"
    case .setDozing: "dozing"
    case .resubscribeAll: "receiving"
    case .deleteStorage: "deleting the store"
    case .encryptStorage: "giving the store another key"
    case .getToken, .registerToken, .verifyToken, .checkToken, .deleteToken, .testNotificationServer:
      "managing the device token"
    case .notifiedConnections, .connectionMessages: "fetching messages"
    case .subscribeScope, .listScopes, .deleteScope, .listApplicationPushes, .settleApplicationPushes:
      "pushes of the host's own"
    case .readChat, .readItems, .readUser, .markUnread: "marking as read"
    case .setChatSettings, .setReceipts, .setContactAlias, .setConnectionAlias, .setCustomData, .setContactPreferences,
      .saveAppSettings:
      "changing settings"
    case .deleteChat, .deleteItems: "deleting"
    case .react: "reacting"
    case .addContact, .connect, .connectionPlan: "connecting"
    case .createAddress, .showAddress, .deleteAddress, .setProfileAddress, .setAddressSettings, .acceptContact,
      .rejectContact:
      "contact addresses and requests"
    case .getCalls, .call: "calls"
    }
  }
}
