import PorterJSON
import PorterPlatform
import PorterSchema
import PropertyTesting

/// Records that a store could hold, and a few that it should not.
enum Make {
  static var id: Generator<Int64> { Generator<Int64>.number(0...Int64.max) }
  static var text: Generator<String> { Generator<String>.text(0...12) }
  static var time: Generator<WallTime> {
    Generator<Int64>.number(0...253_402_300_799_999).map(WallTime.init(milliseconds:))
  }

  static var preferences: Generator<Preferences> {
    Generator { choices in
      var preferences = Preferences()
      for feature in Preferences.Feature.allCases {
        preferences.set(feature, choices.draw(Generator.element(of: FeatureAllowed.allCases).optional))
      }
      if preferences.allowed(.timedMessages) != nil { preferences.timedMessagesSeconds = choices.draw(id.optional) }
      return preferences
    }
  }

  static var profile: Generator<Profile> {
    Generator { choices in
      Profile(
        displayName: choices.draw(text), fullName: choices.draw(text), shortDescription: choices.draw(text.optional),
        image: choices.draw(text.optional), preferences: choices.draw(preferences.optional),
        peerType: choices.draw(Generator.element(of: Profile.PeerType.allCases).optional),
        contactLink: choices.draw(text.optional))
    }
  }

  static var profileRecord: Generator<ProfileRecord> {
    Generator { choices in
      ProfileRecord(id: choices.draw(id), profile: choices.draw(profile), localAlias: choices.draw(text))
    }
  }

  static var user: Generator<UserRecord> {
    Generator { choices in
      UserRecord(
        id: choices.draw(id), contactID: choices.draw(id), localDisplayName: choices.draw(text),
        profile: choices.draw(profileRecord), isActive: choices.flag(), activeOrder: choices.draw(id),
        viewPassword: choices.flag() ? .init(hash: choices.draw(text), salt: choices.draw(text)) : nil,
        showsNotifications: choices.flag(), sendsReceipts: choices.flag())
    }
  }

  static var connectionStatus: Generator<ConnectionStatus> {
    Generator { choices in choices.element(of: EveryCase.connectionStatuses(choices.draw(text))) }
  }

  static var connection: Generator<ConnectionRecord> {
    Generator { choices in
      ConnectionRecord(
        id: choices.draw(id), agentID: choices.draw(text), status: choices.draw(connectionStatus),
        isInitiator: choices.flag(), localAlias: choices.draw(text), authenticationErrors: choices.draw(id),
        quotaErrors: choices.draw(id), entityID: choices.draw(id.optional),
        kind: choices.element(of: ConnectionRecord.Kind.allCases), incognitoProfileID: choices.draw(id.optional),
        created: choices.draw(time))
    }
  }

  static var pending: Generator<PendingConnectionRecord> {
    Generator { choices in
      PendingConnectionRecord(
        id: choices.draw(id), agentID: choices.draw(text), status: choices.draw(connectionStatus),
        invitationLink: choices.draw(text.optional), isRequest: choices.flag(),
        incognitoProfileID: choices.draw(id.optional), localAlias: choices.draw(text), created: choices.draw(time),
        updated: choices.draw(time))
    }
  }

  static var settings: Generator<ChatSettings> {
    Generator { choices in
      ChatSettings(
        notifications: choices.element(of: NotificationFilter.allCases),
        sendsReceipts: choices.draw(Generator<Bool>.flag.optional), isFavorite: choices.flag())
    }
  }

  static var contact: Generator<ContactRecord> {
    Generator { choices in
      ContactRecord(
        id: choices.draw(id), localDisplayName: choices.draw(text), profile: choices.draw(profileRecord),
        connection: choices.draw(connection.optional), isUsed: choices.flag(),
        status: choices.element(of: ContactRecord.Status.allCases), settings: choices.draw(settings),
        userPreferences: choices.draw(preferences), usersPreferences: choices.draw(preferences),
        customData: choices.flag() ? JSONObject([("theirs", .integer(1))]) : nil, created: choices.draw(time),
        updated: choices.draw(time),
        lastItem: choices.draw(time.optional), isChatDeleted: choices.flag())
    }
  }

  static var content: Generator<MessageContent> {
    Generator { choices in
      let body = choices.draw(Generator.one(of: [text, marked]))
      return choices.element(of: EveryCase.contents(body, choices.draw(text), choices.draw(id)))
    }
  }

  /// Text with many formatting marks.
  static var marked: Generator<String> { Generator<String>.text(of: "ab *_~`#!1-@'h:/.", 0...40) }

  static var sendError: Generator<SendError> {
    Generator { choices in choices.element(of: EveryCase.sendErrors(choices.draw(text))) }
  }

  static var status: Generator<ChatItemStatus> {
    Generator { choices in choices.element(of: EveryCase.itemStatuses(choices.draw(text))) }
  }

  static var quote: Generator<QuoteRecord> {
    Generator { choices in
      QuoteRecord(
        direction: choices.element(of: MessageDirection.allCases), itemID: choices.draw(id.optional),
        sharedID: choices.draw(text), sentAt: choices.draw(time), content: choices.draw(content))
    }
  }

  static var item: Generator<ChatItemRecord> {
    Generator { choices in
      ChatItemRecord(
        id: choices.draw(id), direction: choices.element(of: MessageDirection.allCases),
        content: choices.draw(content), quote: choices.draw(quote.optional), status: choices.draw(status),
        sharedID: choices.draw(text.optional),
        timestamp: choices.draw(time), created: choices.draw(time), updated: choices.draw(time),
        isEdited: choices.flag(), deleted: choices.draw(time.optional), isLive: choices.flag(),
        timed: choices.flag() ? .init(seconds: choices.draw(id), deletedAt: choices.draw(time.optional)) : nil,
        mentionsUser: choices.flag(), reactions: choices.draw(reactionCount.array(0...2)), isChangeable: choices.flag())
    }
  }

  static var reaction: Generator<MessageReaction> {
    Generator { choices in
      choices.flag()
        ? .emoji(choices.element(of: MessageReaction.emojis)) : .unknown(tag: "wave", json: ["type": "wave"])
    }
  }

  static var reactionCount: Generator<ReactionCount> {
    Generator { choices in
      ReactionCount(reaction: choices.draw(reaction), userReacted: choices.flag(), total: choices.draw(id))
    }
  }

  static var reactionInChat: Generator<ReactionInChat> {
    Generator { choices in
      ReactionInChat(
        info: choices.draw(info), direction: choices.element(of: MessageDirection.allCases), item: choices.draw(item),
        sentAt: choices.draw(time), reaction: choices.draw(reaction))
    }
  }

  static var info: Generator<ChatInfo> {
    Generator { choices in
      choices.flag() ? .contactConnection(choices.draw(pending)) : .direct(choices.draw(contact))
    }
  }

  static var itemInChat: Generator<ChatItemInChat> {
    Generator { choices in
      ChatItemInChat(info: choices.draw(info), item: choices.draw(item))
    }
  }

  static var chat: Generator<ChatRecord> {
    Generator { choices in
      let stats = ChatStats(
        unreadCount: choices.draw(id), unreadMentions: choices.draw(id), minimumUnreadItemID: choices.draw(id),
        isMarkedUnread: choices.flag())
      return ChatRecord(info: choices.draw(info), items: choices.draw(item.array(0...3)), stats: stats)
    }
  }
}
