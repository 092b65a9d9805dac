import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterStore

/// A request carried out earlier.
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

  /// Deletes answers, along with requests whose token no longer exists. The others keep their correlations until their
  /// token is deleted, so that an old recorded request cannot be replayed. Returns how many, at most `limit`.
  func forgetAnswers(before time: WallTime, limit: Int) throws(ServerError) -> Int {
    try storage { () throws(SQLiteError) in
      let old = try database.rows(
        """
        SELECT correlation, EXISTS (SELECT 1 FROM token WHERE token.signing_key = request.signer)
        FROM request INDEXED BY request_answered WHERE answer IS NOT NULL AND answered_at < ?1 LIMIT ?2
        """, [.integer(time.milliseconds), .integer(Int64(limit))]
      ) { (correlation: $0.blob(0), hasToken: $0.flag(1)) }
      for request in old {
        try database.run(
          request.hasToken
            ? "UPDATE request SET answer = NULL WHERE correlation = ?1" : "DELETE FROM request WHERE correlation = ?1",
          [.blob(request.correlation)])
      }
      return old.count
    }
  }
}
