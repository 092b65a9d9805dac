import PorterJSON
import PorterPlatform

extension Command {
  static let lifecycleRules: [Rule] = [
    Rule("/_start") { (cursor) throws(ChatError) in
      // The earlier form listed the main app's tasks individually.
      if let subscribes = try cursor.onOffOption("subscribe") {
        _ = try cursor.onOffOption("expire")
        _ = try cursor.onOffOption("xftp")
        return .startChat(mainApp: subscribes, sendsFiles: subscribes)
      }
      let mainApp = try cursor.onOffOption("main") ?? true
      return .startChat(mainApp: mainApp, sendsFiles: try cursor.onOffOption("snd_files") ?? mainApp)
    },
    Rule("/_stop", .stopChat),
    Rule("/_check running", .checkRunning),
    Rule("/_app activate") { (cursor) throws(ChatError) in
      .activateChat(restores: try cursor.onOffOption("restore") ?? true)
    },
    Rule("/_app suspend") { (cursor) throws(ChatError) in
      .suspendChat(.microseconds(try cursor.spaceAndNumber("a number of microseconds")))
    },
    Rule("/_app doze") { (cursor) throws(ChatError) in
      try cursor.expectSpace(before: "on or off")
      return .setDozing(try cursor.onOff())
    },
    Rule("/_app phase") { (cursor) throws(ChatError) in
      .setPhase(try cursor.word("active, background or suspended", HostPhase.init(rawValue:)))
    },
    Rule("/_resubscribe all", .resubscribeAll),
    Rule("/set file paths") { (cursor) throws(ChatError) in
      let json = try cursor.spaceAndJSON("file paths")
      let object = try cursor.members(of: json, ["appFilesFolder", "appTempFolder", "appAssetsFolder"])
      guard let files = object["appFilesFolder"]?.stringValue, let temporary = object["appTempFolder"]?.stringValue,
        let assets = object["appAssetsFolder"]?.stringValue
      else { throw cursor.failure("appFilesFolder, appTempFolder and appAssetsFolder, texts") }
      return .setFilePaths(FilePaths(files: files, temporary: temporary, assets: assets))
    },
    Rule("/_files_encrypt") { (cursor) throws(ChatError) in
      try cursor.expectSpace(before: "on or off")
      return .encryptFiles(try cursor.onOff())
    },
    Rule("/_network info") { (cursor) throws(ChatError) in
      _ = try cursor.spaceAndJSON("network information")
      return .setNetworkInformation
    },
    Rule("/_network") { (cursor) throws(ChatError) in
      let object = try cursor.spaceAndJSON("network settings")
      guard case .object = object else { throw cursor.failure("network settings as a JSON object") }
      return .setNetwork(try networkSettings(object, cursor))
    },
    Rule("/_db delete", .deleteStorage),
    Rule("/_db encryption") { (cursor) throws(ChatError) in
      let object = try cursor.members(of: try cursor.spaceAndJSON("keys"), ["currentKey", "newKey"])
      guard let current = object["currentKey"]?.stringValue, let new = object["newKey"]?.stringValue else {
        throw cursor.failure("currentKey and newKey, texts")
      }
      return .encryptStorage(currentKey: SecretText(current), newKey: SecretText(new))
    },
  ]

  private static func networkSettings(
    _ object: JSONValue, _ cursor: CommandCursor
  ) throws(ChatError) -> NetworkSettings {
    var settings = NetworkSettings()
    settings.relay = try relayAddress("relay", in: object, cursor)
    settings.defaultRelay = try relayAddress("defaultRelay", in: object, cursor)
    if let server = object["ntfServer"], server != .null {
      guard let address = server.stringValue.flatMap(ServerAddress.init(parsing:)) else {
        throw cursor.failure("ntfServer, \(ServerAddress.form)")
      }
      settings.notificationServer = address
    }
    guard case .object(let members) = object else { return settings }
    for (name, value) in members.members where value != .null {
      // A host that asks for a proxy must not reach its relay without one: its own transport has its own settings.
      if name == "socksProxy" { throw cursor.failure("socksProxy: null") }
      guard ownSettings.contains(name) || ignoredSettings.contains(name) else {
        throw cursor.failure("no members but relay, defaultRelay, ntfServer and SimpleX's network settings")
      }
    }
    return settings
  }

  private static let ownSettings: Set<String> = ["relay", "defaultRelay", "ntfServer"]

  /// SimpleX's settings for how its own transport reaches its servers. Its apps send all of them at each start.
  private static let ignoredSettings: Set<String> = [
    "socksMode", "hostMode", "requiredHostMode", "sessionMode", "smpProxyMode", "smpProxyFallback", "smpWebPort",
    "smpWebPortServers", "tcpConnectTimeout", "tcpTimeout", "tcpTimeoutPerKb", "rcvConcurrency", "tcpKeepAlive",
    "smpPingInterval", "smpPingCount", "logTLSErrors",
  ]

  private static func relayAddress(
    _ member: String, in object: JSONValue, _ cursor: CommandCursor
  ) throws(ChatError) -> RelayAddress? {
    guard let value = object[member], value != .null else { return nil }
    guard let address = value.stringValue.flatMap(RelayAddress.init(parsing:)) else {
      throw cursor.failure("\(member), \(RelayAddress.form)")
    }
    return address
  }
}
