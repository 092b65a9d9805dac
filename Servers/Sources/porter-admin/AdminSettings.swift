import PorterSettings

/// The settings and commands of `porter-admin`.
enum AdminSettings {
  static let table = SettingsTable(
    program: "porter-admin", summary: "looks after the data of a relay or a notification server",
    prefix: "PORTER_ADMIN", defaultFile: "/etc/nightporter/porter-admin.conf",
    commands: [
      .init("verify", help: "check a data folder, a cluster or a backup; exit status 1 if something is wrong with it"),
      .init("backup", help: "copy a data folder or what is in a cluster to a new folder --to, while it is served"),
      .init("restore", help: "put the backup --from in place of a data folder, or into a cluster, that is not served"),
      .init("drain", help: "let a server finish what it has begun, take nothing new, and end"),
      .init("token", help: "show --token of a notification server"),
      .init("revoke", help: "delete --token of a notification server, as its client could"),
      .init("mailbox", help: "show what --mailbox at a relay has used of its quota"),
    ],
    settings: [
      Setting("data", .path, default: "/var/lib/porter-relay", help: "a relay's or a notification server's folder"),
      Setting(
        "store", .store, default: "file",
        help: "what to look after: file, which is --data, or nats://HOST:PORT,… of a NATS cluster that servers share"),
      Setting("nats-name", .natsName, default: "porter", help: "first part of the names of the cluster's streams"),
      Setting(
        "nats-replicas", .integer(1...5), default: "3", help: "of what is restored; 1 if the cluster is a single node"),
      Setting("nats-credentials", .path, help: "user of the cluster, a .creds file readable by its owner only"),
      Setting("nats-authorities", .path, help: "certificate authorities of the cluster, PEM [the system's]"),
      Setting("to", .path, help: "folder of a backup; must not exist"),
      Setting("from", .path, help: "folder of a backup"),
      Setting("replace", .choice(["no", "yes"]), default: "no", help: "whether a restore may replace what is there"),
      Setting("wait", .duration(1...86_400), default: "5m", help: "how long to wait for the end of a drain"),
      Setting(
        "token", .text, isSecret: true, help: "its identifier, or PROVIDER:HEX, a device's; - for standard input"),
      Setting(
        "mailbox", .text, isSecret: true, help: "its identifier, the recipient's or the sender's; - for standard input"),
    ],
    notes: [
      (
        "EXIT STATUS",
        "0 if the command was carried out and found nothing wrong; otherwise 1, with the reason on standard error."
      ),
      ("SEE ALSO", "porter-push(8), porter-relay(8)"),
    ])
}
