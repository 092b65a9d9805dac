import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_network`, `/_resubscribe all`.
extension Engine {
  func setNetwork(_ settings: NetworkSettings) throws(ChatError) -> Response {
    let store = try requireStore()
    let isUnset = try stored { () throws(StoreError) in try store.setting(Setting.relay) == nil }
    if let address = settings.relay ?? (isUnset ? settings.defaultRelay : nil), case .embedded(let path) = address {
      // The working directory may differ when it is opened, and each process has its own.
      try stored { () throws(StoreError) in
        try store.setSetting(Setting.relay, configuration.ports.files.absolutePath(path))
      }
      // In the background the next activation opens it.
      if lifecycle.isStarted, !relayLink.hasHostTransport {
        relayLink.close()
        if lifecycle.isActive {
          relayLink.open()
          takeUpWork()
        }
      }
    }
    if let server = settings.notificationServer {
      try stored { () throws(StoreError) in try store.setSetting(Setting.server, server.description) }
    }
    return .cmdOk(nil)
  }

  func resubscribe() throws(ChatError) -> Response {
    try requireStarted()
    receiver.listenToAll()
    tokens.subscriptions.ensure()
    return .cmdOk(nil)
  }
}

/// An app's settings. The extension has no other way to find out what the user wants notifications to show.
extension Engine {
  /// Replaces all settings saved before, as in SimpleX's interface.
  func saveAppSettings(_ settings: AppSettings) throws(ChatError) -> Response {
    let store = try requireStore()
    try stored { () throws(StoreError) in
      // One transaction: a push in between sees either the old policy or the new one, never half of each.
      try store.setSettings([
        Setting.appSettings: settings.json.text, Setting.previewMode: settings.previewMode?.rawValue,
        Setting.appLock: settings.hasAppLock == true ? "on" : nil,
      ])
    }
    return .cmdOk(nil)
  }

  /// Returns the saved settings, completed from `platform` and then from the core's defaults.
  func getAppSettings(platform: AppSettings) throws(ChatError) -> Response {
    let store = try requireStore()
    let text = try stored { () throws(StoreError) in try store.setting(Setting.appSettings) }
    guard let saved = text.map({ AppSettings(text: $0) }) ?? AppSettings() else {
      throw .nightporter(.storeDamaged)
    }
    return .appSettings(saved.completed(with: platform).completed(with: .defaults))
  }
}
