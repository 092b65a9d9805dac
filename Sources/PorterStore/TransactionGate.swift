/// Decides whether a transaction may begin, so that a chat coming to rest begins none. Called on the store's thread.
package protocol TransactionGate: AnyObject {
  /// False refuses it: the transaction fails with `closed`, and `transactionEnded` is not called.
  func transactionBegins() -> Bool
  func transactionEnded()
  /// The file beside the store contains what the running transaction is about to commit.
  func silenceWritten()
}

extension TransactionGate {
  package func silenceWritten() {}
}
