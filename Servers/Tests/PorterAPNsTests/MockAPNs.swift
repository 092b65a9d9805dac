import NIOCore
import PorterAPNs
import PushStandIns

struct APNsRequest: Decodable {
  let authorization: String
  let path: String
  let apns_topic: String
  let apns_push_type: String
  let apns_priority: String
  let apns_expiration: String
  let apns_collapse_id: String?
  let connection: Int
  let body: String
}

typealias MockAPNs = StandIn<APNsRequest>

extension StandIn where Request == APNsRequest {
  convenience init(streams: Int? = nil) throws { try self.init("apns.py", streams: streams) }

  var key: String { path("AuthKey.p8") }

  func options() throws -> APNsOptions {
    var options = try APNsOptions(
      environment: .sandbox, key: key, keyID: "ABCDE12345", teamID: "TEAM567890", topic: "org.example.app")
    options.host = "localhost"
    options.port = try port
    options.authority = path("server.pem")
    return options
  }
}
