/// Text that must not be printed: a password, a key, an invitation. Accessible only through `text`.
package struct SecretText: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  package let text: String

  package init(_ text: String) { self.text = text }

  package var description: String { "SecretText(\(text.utf8.count) bytes)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
