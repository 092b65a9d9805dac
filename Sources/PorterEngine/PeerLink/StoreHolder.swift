import PorterPlatform
import PorterStore

/// Finds the process that holds the store, for errors that name it (INC-18).
package enum StoreHolder {
  /// The first of these roles with another process at work. Nil if there is none, or if it ends during the look-up.
  package static func find(among candidates: [(role: Role, file: PhaseFile)], except own: Instance) -> Owner? {
    // Each file is read once. `lazy.compactMap { … }.first` would run its closure twice, and trap if the process ends
    // in between.
    for (role, file) in candidates where file.isHeldElsewhere() {
      guard let instance = file.published()?.instance, instance != own else { continue }
      return Owner(role: role.rawValue, instance: instance)
    }
    return nil
  }
}
