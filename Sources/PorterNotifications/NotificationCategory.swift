/// The kind of a notification; a host registers a platform category for each, with its actions.
package enum NotificationCategory: String, Hashable, Sendable, CaseIterable {
  case contactRequest = "NTF_CAT_CONTACT_REQUEST"
  case contactConnected = "NTF_CAT_CONTACT_CONNECTED"
  case messageReceived = "NTF_CAT_MESSAGE_RECEIVED"
  case callInvitation = "NTF_CAT_CALL_INVITATION"
  case connectionEvent = "NTF_CAT_CONNECTION_EVENT"
  /// Several notifications in one; a tap leads to their chat, or to the app if there are several.
  case manyEvents = "NTF_CAT_MANY_EVENTS"
  /// Set by the notification server: shown by the platform if no extension replaced the push.
  case checkMessage = "NTF_CAT_CHECK_MESSAGE"
}
