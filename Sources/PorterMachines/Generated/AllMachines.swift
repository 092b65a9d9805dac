// Generated from spec/machines by porter-machines. Do not change by hand.

extension MachineCatalog {
  /// All machines, by name.
  package static let all: [MachineDescription] = [
    MachineDescription(AppPhase.self),
    MachineDescription(ApplicationPush.self),
    MachineDescription(BackgroundRefresh.self),
    MachineDescription(Call.self),
    MachineDescription(ChatLifecycle.self),
    MachineDescription(Connection.self),
    MachineDescription(ContactRequest.self),
    MachineDescription(ExtensionPhase.self),
    MachineDescription(LedgerEntry.self),
    MachineDescription(MailboxFetch.self),
    MachineDescription(MessageFetch.self),
    MachineDescription(NotificationResponse.self),
    MachineDescription(Operations.self),
    MachineDescription(Ownership.self),
    MachineDescription(Presence.self),
    MachineDescription(Push.self),
    MachineDescription(PushAnswer.self),
    MachineDescription(Round.self),
    MachineDescription(ServerToken.self),
    MachineDescription(Subscription.self),
    MachineDescription(TokenStatus.self),
    MachineDescription(ValueReservation.self),
  ]
}
