// swift-tools-version: 6.2
// The programs that run on servers. A package of their own, so that a host that links the library resolves and builds none of
// what they depend on. What a module may import is the table of rooms in README.md, from its top down.

import PackageDescription

let swift: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
]

/// Without this trait nothing here needs libnats: a relay for one machine is then built with
/// `--disable-default-traits --product porter-relay`.
let clustered = TargetDependencyCondition.when(traits: ["JetStream"])

let package = Package(
  name: "nightporter-servers",
  products: [
    .executable(name: "porter-relay", targets: ["porter-relay"]),
    .executable(name: "porter-push", targets: ["porter-push"]),
    .executable(name: "porter-admin", targets: ["porter-admin"]),
  ],
  traits: [
    .trait(name: "JetStream", description: "Mailboxes and tokens in a NATS cluster; needs libnats."),
    .default(enabledTraits: ["JetStream"]),
  ],
  dependencies: [
    .package(name: "nightporter", path: ".."),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
  ],
  targets: [
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    // Makes a relay's own certificate.
    .target(name: "CCertificate", dependencies: ["CCrypto"]),
    .target(name: "PorterSettings", swiftSettings: swift),
    .target(name: "PorterTelemetry", swiftSettings: swift),
    .target(
      name: "PorterTLS",
      dependencies: [
        "CCertificate", .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOCore", package: "swift-nio"),
      ], swiftSettings: swift),
    // For the operator.
    .target(
      name: "PorterOperators",
      dependencies: [
        "PorterTelemetry",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ], swiftSettings: swift),
    // A relay on the network, for porter-push.
    .target(
      name: "PorterNetRelay",
      dependencies: [
        .product(name: "porter-pushing", package: "nightporter"), .product(name: "porter-net", package: "nightporter"),
      ], swiftSettings: swift),
    .target(
      name: "PorterRelayServer",
      dependencies: [
        "PorterOperators", "PorterTLS", "PorterTelemetry",
        .product(name: "porter-serving", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ], swiftSettings: swift),
    .target(
      name: "PorterJetStream",
      dependencies: [
        "CCrypto", "CNATS", "PorterRelayServer", "PorterTLS", "PorterTelemetry",
        .product(name: "porter-serving", package: "nightporter"),
        .product(name: "porter-clustering", package: "nightporter"),
        .product(name: "porter-pushing", package: "nightporter"),
      ], swiftSettings: swift),
    // What providers on the network have in common.
    .target(
      name: "PorterPushClient",
      dependencies: [
        .product(name: "porter-pushing", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ], swiftSettings: swift),
    .target(
      name: "PorterAPNs",
      dependencies: [
        "PorterPushClient", "PorterTLS",
        .product(name: "porter-pushing", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ], swiftSettings: swift),
    // Message encryption for Web Push.
    .target(name: "CWebPush", dependencies: ["CCrypto"]),
    .target(
      name: "PorterWebPush",
      dependencies: [
        "CWebPush", "PorterPushClient", "PorterTLS",
        .product(name: "porter-pushing", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ], swiftSettings: swift),
    .executableTarget(
      name: "porter-relay",
      dependencies: [
        "PorterRelayServer", "PorterSettings", "PorterTLS", "PorterTelemetry",
        .byName(name: "PorterJetStream", condition: clustered),
        .product(name: "porter-serving", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
      ], swiftSettings: swift),
    .executableTarget(
      name: "porter-push",
      dependencies: [
        "PorterAPNs", "PorterWebPush", "PorterNetRelay", "PorterOperators", "PorterSettings", "PorterTLS",
        "PorterTelemetry",
        .byName(name: "PorterJetStream", condition: clustered),
        .product(name: "porter-pushing", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ], swiftSettings: swift),
    .executableTarget(
      name: "porter-admin",
      dependencies: [
        "PorterSettings", "PorterTLS",
        .byName(name: "PorterJetStream", condition: clustered),
        .product(name: "porter-serving", package: "nightporter"),
        .product(name: "porter-pushing", package: "nightporter"),
      ], swiftSettings: swift),

    // `make bench-relay`.
    .executableTarget(
      name: "relay-load",
      dependencies: [
        "PorterRelayServer", "PorterTelemetry",
        .byName(name: "PorterJetStream", condition: clustered),
        .product(name: "porter-serving", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ], path: "Benchmarks/relay-load", swiftSettings: swift),
    // `make bench-scale-jetstream`.
    .executableTarget(
      name: "store-load",
      dependencies: [
        "PorterTelemetry", .byName(name: "PorterJetStream", condition: clustered),
        .product(name: "porter-pushing", package: "nightporter"),
      ], path: "Benchmarks/store-load", swiftSettings: swift),
    // `make bench-providers`.
    .executableTarget(
      name: "push-load",
      dependencies: [
        "PorterAPNs",
        .product(name: "porter-pushing", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ], path: "Benchmarks/push-load", swiftSettings: swift),
    // `make bench-delay`.
    .executableTarget(
      name: "delay-load",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ], path: "Benchmarks/delay-load", swiftSettings: swift),

    .target(name: "PorterMutation", path: "Tests/Support/PorterMutation", swiftSettings: swift),
    .testTarget(
      name: "PorterSettingsTests", dependencies: ["PorterSettings", "PorterMutation"], swiftSettings: swift),
    .testTarget(
      name: "PorterJetStreamTests", dependencies: ["PorterJetStream", "PorterMutation"], swiftSettings: swift),
    .testTarget(name: "PorterTelemetryTests", dependencies: ["PorterTelemetry"], swiftSettings: swift),
    // Push services in Python, and what tests of providers have in common.
    .target(
      name: "PushStandIns",
      dependencies: [
        "PorterPushClient", .product(name: "porter-pushing", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
      ], path: "Tests/Support/PushStandIns", swiftSettings: swift),
    .testTarget(
      name: "PorterWebPushTests",
      dependencies: [
        "PorterMutation", "PorterWebPush", "PorterPushClient", "CWebPush", "PushStandIns",
        .product(name: "porter-pushing", package: "nightporter"), .product(name: "NIOCore", package: "swift-nio"),
      ], swiftSettings: swift),
    .testTarget(
      name: "PorterAPNsTests",
      dependencies: [
        "PorterAPNs", "PorterPushClient", "PushStandIns", .product(name: "porter-pushing", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ], swiftSettings: swift),
    .testTarget(
      name: "PorterPushClientTests",
      dependencies: ["PorterPushClient", .product(name: "NIOCore", package: "swift-nio")], swiftSettings: swift),
    .testTarget(
      name: "PorterNetRelayTests",
      dependencies: ["PorterNetRelay", .product(name: "porter-pushing", package: "nightporter")], swiftSettings: swift),
    .testTarget(name: "PorterTLSTests", dependencies: ["PorterTLS", "PorterMutation"], swiftSettings: swift),
    .testTarget(
      name: "PorterRelayServerTests",
      dependencies: [
        "PorterMutation", "PorterRelayServer", "PorterTLS", "PorterTelemetry", "porter-relay",
        .product(name: "porter-serving", package: "nightporter"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ], swiftSettings: swift),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
