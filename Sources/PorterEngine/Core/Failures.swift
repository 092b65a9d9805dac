import PorterCrypto
import PorterRelay
import PorterSchema
import PorterStore

/// Errors of the layers below, in the interface's terms.
extension ChatError {
  package init(_ error: StoreError) {
    switch error {
    case .sqlite(let error): self.init(error)
    case .seal(let error): self = .nightporter(NightporterError(error))
    case .foreign: self = .database(.open(.notADatabase))
    case .needsMigration: self = .nightporter(.roleNotAllowed("migrating the store"))
    case .newerSchema: self = .error(.chatStoreChanged)
    case .staleEpoch(let owner): self = .nightporter(.ownershipLost(holder: owner?.description ?? "another process"))
    case .notFound(.user): self = .error(.userUnknown)
    case .notFound(.contact): self = .store(.contactNotFound(0))
    case .notFound(.item): self = .store(.chatItemNotFound(0))
    case .notFound(.connection): self = .agent(.connection(.notFound, context: ""))
    case .notFound(.token): self = .noToken
    case .notFound, .duplicate: self = .store(.internalError(error.description))
    case .damaged: self = .nightporter(.storeDamaged)
    }
  }

  /// `relay` is the relay's name.
  init(_ error: RelayError, relay server: String) {
    switch error {
    case .auth: self = .agent(.relay(server: server, .authentication))
    case .quota: self = .agent(.relay(server: server, .quota))
    case .size: self = .agent(.relay(server: server, .largeMessage))
    case .noMessage: self = .agent(.relay(server: server, .noMessage))
    case .syntax: self = .agent(.relay(server: server, .commandSyntax))
    case .version: self = .agent(.broker(server: server, .transportVersion))
    case .unavailable: self = .agent(.relay(server: server, .internal))
    case .offline, .closed: self = .agent(.broker(server: server, .network(reason: error.description)))
    case .timeout: self = .agent(.broker(server: server, .timeout))
    case .answer: self = .agent(.broker(server: server, .unexpected(error.description)))
    case .storage(let error): self = .agent(.broker(server: server, .network(reason: error.description)))
    case .crypto(let error): self = .internal(error.description)
    }
  }

  init(_ error: SQLiteError) {
    switch error.kind {
    case .busy, .locked: self = .store(.databaseBusy(error.description))
    case .cannotOpen where error.isOutOfDescriptors: self = .internal("the system has no descriptor to give")
    case .readOnly, .cannotOpen: self = .nightporter(.storeReadOnly)
    case .full: self = .nightporter(.storeFull)
    case .corrupt: self = .nightporter(.storeDamaged)
    case .notADatabase: self = .database(.open(.notADatabase))
    case .closed: self = .nightporter(.storeClosed)
    case .constraint, .interrupted, .ioError, .schema, .outOfMemory, .tooBig, .misuse, .other:
      self = .store(.databaseException(error.description))
    }
  }
}

extension NightporterError {
  package init(_ error: SealError) {
    switch error {
    case .keyMissing: self = .storeKeyMissing
    case .keyWrong: self = .storeKeyWrong
    case .keyInvalid: self = .storeKeyInvalid
    case .keyForgotten: self = .storeKeyForgotten
    case .rawKeyNeeded: self = .storeKeyNotRaw
    case .notSealed: self = .storeNotSealed
    case .notADatabase: self = .storeNotADatabase
    case .missing: self = .storeMissing
    case .newerFormat: self = .storeFormatNewer
    case .cipherUnavailable: self = .storeCipherUnavailable
    case .damaged(let place): self = .storePageDamaged(file: place.file.name, page: place.page)
    case .truncated(let place): self = .storeCutOff(file: place.file.name, page: place.page)
    case .noMemory: self = .storeKeyNoMemory
    }
  }
}

extension SealError.Place.File {
  fileprivate var name: NightporterError.StaticText {
    switch self {
    case .store: "store"
    case .log: "log"
    case .journal: "journal"
    case .temporary: "temporary"
    }
  }
}
