import PorterJSON
import PorterPlatform

/// A request, made through the user's address, to become a contact.
package struct UserContactRequest: Hashable, Sendable {
  package var id: Int64
  /// base64url; identifies repeats of the request.
  package var person: String
  package var addressID: Int64
  /// Set once the request was accepted.
  package var contactID: Int64?
  package var profile: ProfileRecord
  package var created: WallTime
  package var updated: WallTime

  package init(
    id: Int64, person: String, addressID: Int64, contactID: Int64?, profile: ProfileRecord, created: WallTime,
    updated: WallTime
  ) {
    self.id = id
    self.person = person
    self.addressID = addressID
    self.contactID = contactID
    self.profile = profile
    self.created = created
    self.updated = updated
  }

  /// The `UserContactRequest` shape.
  package var json: JSONValue {
    .compact([
      "contactRequestId": .integer(id),
      "agentInvitationId": .string(person),
      "contactId_": contactID.map(JSONValue.integer),
      "userContactLinkId_": .integer(addressID),
      "cReqChatVRange": .compact([
        "minVersion": .integer(ConnectionRecord.chatVersion), "maxVersion": .integer(ConnectionRecord.chatVersion),
      ]),
      "localDisplayName": .string(profile.profile.displayName),
      "profileId": .integer(profile.id),
      "profile": profile.json,
      "createdAt": .string(created.iso8601),
      "updatedAt": .string(updated.iso8601),
      "pqSupport": false,
    ])
  }
}
