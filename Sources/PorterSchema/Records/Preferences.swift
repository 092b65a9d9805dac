import PorterJSON

/// Whether a feature of a conversation is allowed by one side.
package enum FeatureAllowed: String, Hashable, Sendable, CaseIterable {
  case always, yes, no
}

/// What one side allows in a conversation. An absent value means the default (`Preferences.defaults`).
package struct Preferences: Hashable, Sendable {
  package enum Feature: String, Hashable, Sendable, CaseIterable {
    case timedMessages, fullDelete, reactions, voice, files, calls, sessions
  }

  package var allowed: [Feature: FeatureAllowed]
  /// Seconds that a disappearing message stays; only set beside `timedMessages`.
  package var timedMessagesSeconds: Int64?

  package init(allowed: [Feature: FeatureAllowed] = [:], timedMessagesSeconds: Int64? = nil) {
    self.allowed = allowed
    self.timedMessagesSeconds = timedMessagesSeconds
  }

  /// Ignores unknown features and values. Nil if it is not an object.
  package init?(json: JSONValue) {
    guard case .object = json else { return nil }
    self.init()
    for feature in Feature.allCases {
      allowed[feature] = (json[feature.rawValue]?["allow"]?.stringValue).flatMap(FeatureAllowed.init)
    }
    guard allowed[.timedMessages] != nil else { return }
    timedMessagesSeconds = json[Feature.timedMessages.rawValue]?["ttl"]?.integerValue
  }

  /// SimpleX's defaults. Features this library does not support are not offered, so that a host can grey them out.
  package static func byDefault(_ feature: Feature) -> FeatureAllowed {
    switch feature {
    case .timedMessages, .reactions: .yes
    case .fullDelete, .voice, .files, .calls, .sessions: .no
    }
  }

  package func allows(_ feature: Feature) -> FeatureAllowed { allowed[feature] ?? Self.byDefault(feature) }

  /// The `Preferences` shape: only what is set.
  package var json: JSONValue {
    var object = JSONObject()
    for feature in Feature.allCases where allowed[feature] != nil {
      object[feature.rawValue] = preference(feature)
    }
    return .object(object)
  }

  /// The `FullPreferences` shape: every feature.
  package var fullJSON: JSONValue {
    var object = JSONObject()
    for feature in Feature.allCases { object[feature.rawValue] = preference(feature) }
    object["commands"] = .array([])
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
    return .object(object)
  }

  /// `self` is the profile owner's side.
  package func enabled(
    _ feature: Feature, with contact: Preferences
  ) -> (forUser: Bool, forContact: Bool) {
    Self.enabled(own: allows(feature), contact: contact.allows(feature))
  }

  /// `always` grants the other side a feature even if it does not reciprocate.
  static func enabled(own: FeatureAllowed, contact: FeatureAllowed) -> (forUser: Bool, forContact: Bool) {
    switch (own, contact) {
    case (.always, .no): (forUser: false, forContact: true)
    case (.no, .always): (forUser: true, forContact: false)
    case (.no, _), (_, .no): (forUser: false, forContact: false)
    case (.yes, .yes), (.yes, .always), (.always, .yes), (.always, .always): (forUser: true, forContact: true)
    }
  }
}
