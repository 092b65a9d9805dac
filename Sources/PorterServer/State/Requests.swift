import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterStore

/// A request that was carried out before.
struct RecordedRequest: Sendable {
  let signer: SigningPublicKey
  /// Nil if the answer has expired.
  let answer: ServerAnswer?
}

extension ServerState {
  func recordedRequest(_ correlation: CorrelationID) throws(ServerError) -> RecordedRequest? {
    try database.firstRow(
      "SELECT signer, answer FROM request WHERE correlation = ?1", [.blob(correlation.bytes)]
    ) { (row) throws(ServerError) in
      guard let signer = SigningPublicKey(bytes: row.blob(0)) else { throw .damaged(.request) }
      guard let text = row.optionalBlob(1) else { return RecordedRequest(signer: signer, answer: nil) }
      guard let json = try? JSONValue(parsing: text), let answer = try? ServerAnswer(json: json) else {
        throw .damaged(.request)
      }
      return RecordedRequest(signer: signer, answer: answer)
    }
  }

  func record(_ answer: ServerAnswer, signer: SigningPublicKey, at time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "INSERT INTO request (correlation, signer, answer, answered_at) VALUES (?1, ?2, ?3, ?4)",
        [
          .blob(answer.correlation.bytes), .blob(signer.bytes), .blob(answer.json.utf8), .integer(time.milliseconds),
        ])
    }
  }

  /// Deletes answers, and with them requests whose token no longer exists. The others' correlations stay, so that an
  /// old recorded request cannot be replayed.
  func forgetAnswers(before time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        DELETE FROM request WHERE answered_at < ?1
          AND NOT EXISTS (SELECT 1 FROM token WHERE token.signing_key = request.signer)
        """, [.integer(time.milliseconds)])
      try database.run(
        "UPDATE request SET answer = NULL WHERE answered_at < ?1 AND answer IS NOT NULL", [.integer(time.milliseconds)])
    }
  }
}
