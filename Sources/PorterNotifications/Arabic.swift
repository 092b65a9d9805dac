extension Phrase {
  var arabic: Wording {
    switch self {
    case .wantsToConnect: .plain("%@ يريد التواصل معك!")
    case .somebody: .plain("شخص ما")
    case .acceptRequest: .plain("هل تقبل طلب التواصل من %@؟")
    case .thisContact: .plain("جهة الاتصال هذه")
    case .isConnected: .plain("تم الاتصال مع %@!")
    case .aNewContact: .plain("جهة اتصال جديدة")
    case .canChat: .plain("يمكنك الآن الدردشة مع %@")
    case .fromContact: .plain("%@:")
    case .contactHidden: .plain("جهة اتصال مخفية:")
    case .fromMember: .plain("#%@ %@:")
    case .groupMessage: .plain("رسالة في مجموعة:")
    case .newMessageBody: .plain("رسالة جديدة")
    case .voiceMessage: .plain("رسالة صوتية (%@)")
    case .report: .plain("بلاغ: %@")
    case .spam: .plain("رسائل مزعجة")
    case .inappropriateContent: .plain("محتوى غير لائق")
    case .guidelinesViolation: .plain("مخالفة لإرشادات المجتمع")
    case .inappropriateProfile: .plain("ملف شخصي غير لائق")
    case .anotherReason: .plain("سبب آخر")
    case .videoCall: .plain("مكالمة فيديو واردة")
    case .audioCall: .plain("مكالمة صوتية واردة")
    case .missedCall: .plain("مكالمة فائتة")
    case .newContact: .plain("جهة اتصال جديدة:")
    case .messageReceived: .plain("تم استلام رسالة")
    case .newContactRequest: .plain("طلب تواصل جديد")
    case .sentFileEvent: .plain("حدث يخص ملفًا مُرسَلًا")
    case .receivedFileEvent: .plain("حدث يخص ملفًا مُستلَمًا")
    case .newMessages:
      .plural(
        zero: "لا رسائل جديدة", one: "رسالة جديدة واحدة", two: "رسالتان جديدتان", few: "%d رسائل جديدة",
        many: "%d رسالة جديدة", other: "%d رسالة جديدة")
    case .fromOne: .plain("من: %@")
    case .fromTwo: .plain("من: %@ و%@")
    case .fromThree: .plain("من: %@ و%@ و%@")
    case .fromMore:
      .plural(
        zero: "من: %@ و%@", one: "من: %@ و%@ ومحادثة أخرى", two: "من: %@ و%@ ومحادثتين أخريين",
        few: "من: %@ و%@ و%d محادثات أخرى", many: "من: %@ و%@ و%d محادثة أخرى", other: "من: %@ و%@ و%d محادثة أخرى")
    case .fromChats:
      .plural(
        zero: "لا محادثات", one: "من محادثة واحدة", two: "من محادثتين", few: "من %d محادثات", many: "من %d محادثة",
        other: "من %d محادثة")
    case .newRequests:
      .plural(
        zero: "لا طلبات تواصل", one: "طلب تواصل واحد", two: "طلبا تواصل", few: "%d طلبات تواصل",
        many: "%d طلب تواصل", other: "%d طلب تواصل")
    case .fromOthers:
      .plural(
        zero: "من: %@ و%@", one: "من: %@ و%@ وشخص آخر", two: "من: %@ و%@ وشخصين آخرين",
        few: "من: %@ و%@ و%d أشخاص آخرين", many: "من: %@ و%@ و%d شخصًا آخر", other: "من: %@ و%@ و%d شخص آخر")
    case .accept: .plain("قبول")
    case .acceptIncognito: .plain("قبول بهوية متخفية")
    case .reject: .plain("رفض")
    case .markAsRead: .plain("وضع علامة مقروء")
    case .reply: .plain("رد")
    case .contactIsConnected: .plain("تم الاتصال بجهة الاتصال")
    case .newMessage: .plain("رسالة جديدة")
    case .incomingCall: .plain("مكالمة واردة")
    case .newEvents: .plain("أحداث جديدة")
    case .encryptedMessage: .plain("رسالة مشفرة أو حدث آخر في التطبيق")
    case .openToReceive: .plain("افتح التطبيق لاستلامها.")
    case .encryptedLocked: .plain("رسالة مشفرة: الجهاز مقفل")
    case .unlockToReceive: .plain("ألغِ قفل الجهاز وافتح التطبيق لاستلامها.")
    case .encryptedStopped: .plain("رسالة مشفرة: التطبيق متوقف")
    case .startToReceive: .plain("افتح التطبيق وابدأ الدردشة لاستلام الرسائل.")
    case .encryptedNoPassphrase: .plain("رسالة مشفرة: لا توجد عبارة مرور")
    case .openForPassphrase: .plain("افتح التطبيق وأدخل عبارة المرور.")
    case .encryptedMigration: .plain("رسالة مشفرة: خطأ في ترحيل قاعدة البيانات")
    case .openToUpdate: .plain("افتح التطبيق لتحديث قاعدة بياناته.")
    case .encryptedDatabase: .plain("رسالة مشفرة: خطأ في قاعدة البيانات")
    case .openToRepair: .plain("افتح التطبيق لمعرفة المشكلة.")
    }
  }
}
