import PorterJSON

extension Command {
  static let addressRules: [Rule] = [
    Rule("/_address") { (cursor) throws(ChatError) in
      let user = try cursor.spaceAndNumber("a profile's id")
      // Post-quantum encryption is SimpleX's; both words are accepted without effect.
      _ = try cursor.onOffOption("pq_ratchet")
      return .createAddress(.id(user))
    },
    Rule("/address", .createAddress(.active)),
    Rule("/ad", .createAddress(.active)),
    Rule("/_show_address") { (cursor) throws(ChatError) in
      .showAddress(.id(try cursor.spaceAndNumber("a profile's id")))
    },
    Rule("/show_address", .showAddress(.active)),
    Rule("/sa", .showAddress(.active)),
    Rule("/_delete_address") { (cursor) throws(ChatError) in
      .deleteAddress(.id(try cursor.spaceAndNumber("a profile's id")))
    },
    Rule("/delete_address", .deleteAddress(.active)),
    Rule("/da", .deleteAddress(.active)),
    Rule("/_profile_address") { (cursor) throws(ChatError) in
      let user = try cursor.spaceAndNumber("a profile's id")
      try cursor.expectSpace(before: "on or off")
      return .setProfileAddress(user, try cursor.onOff())
    },
    Rule("/_address_settings") { (cursor) throws(ChatError) in
      let user = try cursor.spaceAndNumber("a profile's id")
      return .setAddressSettings(user, try settings(try cursor.spaceAndJSON("settings"), cursor))
    },
    Rule("/_accept") { (cursor) throws(ChatError) in
      let incognito = try cursor.onOffOption("incognito") ?? false
      return .acceptContact(try cursor.spaceAndNumber("a request's id"), incognito: incognito)
    },
    Rule("/_reject") { (cursor) throws(ChatError) in .rejectContact(try cursor.spaceAndNumber("a request's id")) },
  ]

  private static func settings(_ json: JSONValue, _ cursor: CommandCursor) throws(ChatError) -> AddressSettings {
    do throws(AddressSettings.Failure) { return try AddressSettings(checking: json) } catch {
      switch error {
      case .isMalformed: throw cursor.failure("businessAddress, autoAccept with acceptIncognito, and autoReply")
      case .isBusiness: throw .nightporter(.notSupported("business addresses"))
      }
    }
  }
}
