// Parses one push payload from standard input with PorterJSON, and prints its content, for comparison with
// json-foundation.

import PorterJSON

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

var payload = [UInt8](repeating: 0, count: 8192)
payload.removeLast(payload.count - max(0, read(0, &payload, payload.count)))
let message = (try? JSONValue(parsing: payload))?["notificationData"]?["message"]?.stringValue
print(message?.utf8.count ?? 0)
exit(message == nil ? 1 : 0)
