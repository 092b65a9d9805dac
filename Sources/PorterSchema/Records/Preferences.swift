import PorterJSON

/// Whether one side allows a feature of a conversation.
package enum FeatureAllowed: String, Hashable, Sendable, CaseIterable {
  case always, yes, no
}

/// The features one side allows in a conversation. An absent value means the default (`Preferences.byDefault`).
package struct Preferences: Hashable, Sendable {
  package enum Feature: String, Hashable, Sendable, CaseIterable {
    case timedMessages, fullDelete, reactions, voice, files, calls, sessions
  }

  /// Exactly as it was set, including a bot's commands and members unknown to this library.
  private var members: JSONObject

  package init(allowed: [Feature: FeatureAllowed] = [:], timedMessagesSeconds: Int64? = nil) {
    members = JSONObject()
    for feature in Feature.allCases { set(feature, allowed[feature]) }
    self.timedMessagesSeconds = timedMessagesSeconds
  }

  /// Leaves out features of another shape. Nil if it is not an object.
  package init?(json: JSONValue) {
    guard case .object(let all) = json else { return nil }
    members = JSONObject(
      all.members.filter { Self.fits($0.name, $0.value) }.map { ($0.name, $0.value) })
  }

  /// Also nil if a feature has another shape.
  package init?(strict json: JSONValue) {
    guard case .object(let all) = json,
      all.members.allSatisfy({ $0.value == .null || Self.fits($0.name, $0.value) })
    else { return nil }
    self.init(json: json)
  }

  private static func fits(_ name: String, _ value: JSONValue) -> Bool {
    if name == commandsName { return value.arrayValue != nil }
    guard let feature = Feature(rawValue: name) else { return true }
    guard (value["allow"]?.stringValue).flatMap(FeatureAllowed.init) != nil else { return false }
    switch value["ttl"] {
    case nil, .null?: return true
    case .integer?: return feature == .timedMessages
    default: return false
    }
  }

  private static let commandsName = "commands"

  package func allowed(_ feature: Feature) -> FeatureAllowed? {
    (members[feature.rawValue]?["allow"]?.stringValue).flatMap(FeatureAllowed.init)
  }

  package mutating func set(_ feature: Feature, _ allowed: FeatureAllowed?) {
    guard let allowed else { return members[feature.rawValue] = nil }
    var object = members[feature.rawValue]?.objectValue ?? JSONObject()
    object["allow"] = .string(allowed.rawValue)
    members[feature.rawValue] = .object(object)
  }

  /// The number of seconds a disappearing message stays; only set together with `timedMessages`.
  package var timedMessagesSeconds: Int64? {
    get { members[Feature.timedMessages.rawValue]?["ttl"]?.integerValue }
    set {
      guard var object = members[Feature.timedMessages.rawValue]?.objectValue else { return }
      object["ttl"] = newValue.map(JSONValue.integer)
      members[Feature.timedMessages.rawValue] = .object(object)
    }
  }

  /// These preferences, with values from `others` taking precedence.
  package func overridden(by others: Preferences) -> Preferences {
    var result = self
    result.members.merge(others.members)
    return result
  }

  /// Nil for text that is not in the stored form.
  package init?(stored: String?) {
    guard let json = stored.flatMap({ try? JSONValue(parsing: $0) }) else { return nil }
    self.init(json: json)
  }

  /// The commands that a bot offers; empty for anyone else.
  package var commands: [JSONValue] { members[Self.commandsName]?.arrayValue ?? [] }

  /// SimpleX's defaults. Unsupported features are not offered, so that a host can grey them out.
  package static func byDefault(_ feature: Feature) -> FeatureAllowed {
    switch feature {
    case .timedMessages, .reactions, .calls: .yes
    case .fullDelete, .voice, .files, .sessions: .no
    }
  }

  package func allows(_ feature: Feature) -> FeatureAllowed { allowed(feature) ?? Self.byDefault(feature) }

  /// The `Preferences` shape: only what is set.
  package var json: JSONValue { .object(members) }

  /// The `FullPreferences` shape: every feature.
  package var fullJSON: JSONValue {
    var object = JSONObject()
    for feature in Feature.allCases { object[feature.rawValue] = preference(feature) }
    object["commands"] = .array(commands)
    return .object(object)
  }

  private func preference(_ feature: Feature) -> JSONValue {
    .compact([
      "allow": .string(allows(feature).rawValue),
      "ttl": feature == .timedMessages ? timedMessagesSeconds.map(JSONValue.integer) : nil,
    ])
  }

  private func simplePreference(_ feature: Feature) -> JSONValue {
    .compact(["allow": .string(allows(feature).rawValue)])
  }

  /// The `ContactUserPreferences` shape: the combined result for each feature of `self` (the profile's owner) and the
  /// contact.
  package func merged(with contact: Preferences) -> JSONValue {
    var object = JSONObject()
    for feature in Feature.allCases {
      let enabled = Self.enabled(own: allows(feature), contact: contact.allows(feature))
      object[feature.rawValue] = .compact([
        "enabled": .compact(["forUser": .bool(enabled.forUser), "forContact": .bool(enabled.forContact)]),
        "userPreference": .compact(["type": "user", "preference": simplePreference(feature)]),
        "contactPreference": contact.simplePreference(feature),
      ])
    }
    // The commands offered by the contact, a bot.
    if !contact.commands.isEmpty { object[Self.commandsName] = .array(contact.commands) }
    return .object(object)
  }

  /// `self` is the profile owner's side.
  package func enabled(
    _ feature: Feature, with contact: Preferences
  ) -> (forUser: Bool, forContact: Bool) {
    Self.enabled(own: allows(feature), contact: contact.allows(feature))
  }

  /// `always` grants the other side a feature even if it does not reciprocate.
  package static func enabled(own: FeatureAllowed, contact: FeatureAllowed) -> (forUser: Bool, forContact: Bool) {
    switch (own, contact) {
    case (.always, .no): (forUser: false, forContact: true)
    case (.no, .always): (forUser: true, forContact: false)
    case (.no, _), (_, .no): (forUser: false, forContact: false)
    case (.yes, .yes), (.yes, .always), (.always, .yes), (.always, .always): (forUser: true, forContact: true)
    }
  }
}
