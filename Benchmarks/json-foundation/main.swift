// Parses one push payload from standard input with FoundationEssentials, and prints its content. The difference from
// json-porter in start-up time and memory is why the library has its own parser.

import FoundationEssentials

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

struct Payload: Decodable {
  struct NotificationData: Decodable {
    var nonce: String
    var message: String
  }
  var notificationData: NotificationData
}

var bytes = [UInt8](repeating: 0, count: 8192)
bytes.removeLast(bytes.count - max(0, read(0, &bytes, bytes.count)))
let payload = try? JSONDecoder().decode(Payload.self, from: Data(bytes))
print(payload?.notificationData.message.utf8.count ?? 0)
exit(payload == nil ? 1 : 0)
