/// Every access to the outside world, as one value passed down from the configuration.
///
/// Everything not decided by the machines, the store's contents or a host's call comes through one of these, so that a
/// test with a manual clock and seeded randomness replays a run step by step.
package struct Ports: Sendable {
  package var clock: any Clock
  package var randomness: any Randomness
  package var files: any Files
  package var datagrams: any Datagrams
  /// Nil for the running process, which is looked up when needed.
  package var identity: ProcessIdentity?

  package init(
    clock: any Clock = SystemClock(), randomness: any Randomness = SystemRandomness(),
    files: any Files = SystemFiles(), datagrams: any Datagrams = SystemDatagrams(),
    identity: ProcessIdentity? = nil
  ) {
    self.clock = clock
    self.randomness = randomness
    self.files = files
    self.datagrams = datagrams
    self.identity = identity
  }

  /// The operating system's own.
  package static var system: Ports { Ports() }
}
