import PorterSchema

extension Command {
  /// What the command does that is not allowed in a process of this role; nil if it is allowed.
  func whatIsNotAllowed(in role: Role) -> NightporterError.StaticText? {
    switch use {
    case .everyRole: nil
    case .only(let roles, let what): roles.contains(role) ? nil : what
    }
  }

  private enum Use {
    case everyRole
    case only([Role], NightporterError.StaticText)
  }

  /// A notification extension handles pushes, and a share extension sends; both read what that requires. Any other
  /// change by them would be missing on the app's screen. The user's responses to notifications come through
  /// `np_notification_response` in every role. Every new command must be decided here.
  private var use: Use {
    switch self {
    case .showActiveUser, .listUsers, .getChats, .getChat, .listContacts, .listGroups, .getAppSettings: .everyRole
    case .startChat, .stopChat, .checkRunning, .activateChat, .suspendChat, .setPhase: .everyRole
    case .setFilePaths, .setNetworkInformation, .encryptFiles: .everyRole
    // Hosts send the network settings, most of which have no effect here, at each start.
    case .setNetwork(let settings):
      settings == NetworkSettings()
        ? .everyRole : .only([.app, .extension], "setting the relay or the notification server")
    // Edits continue a live message.
    case .send, .sendByName, .updateItem: .only([.app, .share], "sending")
    case .notifiedConnections, .connectionMessages: .only([.app, .extension], "fetching messages")
    case .listScopes, .listApplicationPushes, .settleApplicationPushes:
      .only([.app, .extension], "pushes of the host's own")
    case .getCalls: .only([.app, .extension], "calls")
    case .setDozing: .only([.extension], "dozing")
    case .createUser, .setActiveUser, .hideUser, .unhideUser, .muteUser, .unmuteUser, .deleteUser, .updateProfile:
      .only([.app], "changing profiles")
    case .resubscribeAll: .only([.app], "receiving")
    case .deleteStorage: .only([.app], "deleting the store")
    case .encryptStorage: .only([.app], "giving the store another key")
    case .getToken: .only([.app, .extension], "managing the device token")
    case .registerToken, .verifyToken, .checkToken, .deleteToken, .testNotificationServer:
      .only([.app], "managing the device token")
    case .subscribeScope: .only([.app], "subscribing a scope")
    case .deleteScope: .only([.app], "deleting a scope")
    case .readChat, .readItems, .readUser, .markUnread: .only([.app], "marking as read")
    case .setChatSettings, .setReceipts, .setContactAlias, .setConnectionAlias, .setCustomData, .setContactPreferences,
      .saveAppSettings:
      .only([.app], "changing settings")
    case .deleteChat, .deleteItems: .only([.app], "deleting")
    case .react: .only([.app], "reacting")
    case .addContact, .connect, .connectionPlan: .only([.app], "connecting")
    case .createAddress, .showAddress, .deleteAddress, .setProfileAddress, .setAddressSettings, .acceptContact,
      .rejectContact:
      .only([.app], "contact addresses and requests")
    case .call: .only([.app], "calls")
    }
  }
}
