import PorterRelay
import PorterSchema
import PorterStore

/// Errors of the layers below, in the words of the interface.
extension ChatError {
  init(_ error: PorterStore.StoreError) {
    switch error {
    case .sqlite(let error): self.init(error)
    case .sealingUnsupported: self = .nightporter(.storeSealingUnavailable)
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

  init(_ error: SQLiteError) {
    switch error.kind {
    case .busy, .locked: self = .store(.databaseBusy(error.description))
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
