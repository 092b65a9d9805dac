import Foundation

// What README.md's notification extension uses of Apple's UserNotifications, with the same signatures, so that it can be
// compiled on Linux. A test compiles this file as the module UserNotifications.

open class UNNotificationContent: NSObject {
  public var userInfo: [AnyHashable: Any] { [:] }
}

public final class UNNotificationSound: NSObject {
  public class var `default`: UNNotificationSound { UNNotificationSound() }
}

public final class UNMutableNotificationContent: UNNotificationContent {
  public var title = ""
  public var body = ""
  public var categoryIdentifier = ""
  public var threadIdentifier = ""
  public var targetContentIdentifier: String?
  public var sound: UNNotificationSound?
  public var badge: NSNumber?
  private var info: [AnyHashable: Any] = [:]
  public override var userInfo: [AnyHashable: Any] {
    get { info }
    set { info = newValue }
  }
}

public class UNNotificationTrigger: NSObject {}

public final class UNNotificationRequest: NSObject {
  public let identifier: String
  public let content: UNNotificationContent

  public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
    self.identifier = identifier
    self.content = content
  }
}

public final class UNUserNotificationCenter: NSObject {
  public class func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
  public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}
  public func add(
    _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) {}
}

open class UNNotificationServiceExtension: NSObject {
  open func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {}
  open func serviceExtensionTimeWillExpire() {}
}
