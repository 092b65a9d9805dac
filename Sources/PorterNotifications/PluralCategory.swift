/// CLDR's plural categories.
package enum PluralCategory: String, Hashable, Sendable, CaseIterable {
  case zero, one, two, few, many, other
}

/// The form a language uses for a count: CLDR's cardinal rules for whole numbers, with languages of equal rules
/// grouped.
package enum PluralRule: Hashable, Sendable, CaseIterable {
  case none
  case oneIsOne, zeroIsZero, zeroAndOne, oneOfTens, oneAndMillions, zeroOneAndMillions
  case arabic, breton, cornish, czech, filipino, gaelic, hebrew, irish, latvian, lithuanian, maltese, manx, polish,
    romanian, russian, serbian, slovenian, tachelhit, tamazight, welsh

  /// `tag` is a BCP 47 tag, such as `ar` or `pt-BR`. A language not listed has one form, `other`: CLDR has no other
  /// form for it, or no texts in it.
  package init(language tag: String) {
    let tag = tag.lowercased()
    switch tag.prefix(while: { $0 != "-" && $0 != "_" }) {
    case "pt" where tag.split(whereSeparator: { $0 == "-" || $0 == "_" }).dropFirst().contains("pt"):
      self = .oneAndMillions
    case "af", "an", "asa", "ast", "az", "bal", "bem", "bez", "bg", "brx", "ce", "cgg", "chr", "ckb", "da", "de",
      "dv", "ee", "el", "en", "eo", "et", "eu", "fi", "fo", "fur", "fy", "gl", "gsw", "ha", "haw", "hu", "ia",
      "io", "jgo", "jmc", "ka", "kaj", "kcg", "kk", "kkj", "kl", "ks", "ksb", "ku", "ky", "lb", "lg", "lij",
      "mas", "mgo", "ml", "mn", "mr", "nb", "nd", "ne", "nl", "nn", "nnh", "no", "nr", "ny", "nyn", "om", "or",
      "os", "pap", "ps", "rm", "rof", "rwk", "saq", "sc", "sd", "sdh", "seh", "sn", "so", "sq", "ss", "ssy", "st",
      "sv", "sw", "syr", "ta", "te", "teo", "tig", "tk", "tn", "tr", "ts", "ug", "ur", "uz", "ve", "vo", "vun",
      "wae", "xh", "xog", "yi":
      self = .oneIsOne
    case "ak", "am", "as", "bho", "bn", "csw", "doi", "fa", "ff", "gu", "hi", "hy", "kab", "kn", "ln", "mg", "nso",
      "pa", "pcm", "si", "ti", "wa", "zu":
      self = .zeroAndOne
    case "is", "mk": self = .oneOfTens
    case "ca", "es", "it", "lld", "scn", "vec": self = .oneAndMillions
    case "fr", "ht", "pt": self = .zeroOneAndMillions
    case "ar": self = .arabic
    case "cs", "sk": self = .czech
    case "ceb", "fil", "tl": self = .filipino
    case "gd": self = .gaelic
    case "he", "iu", "iw", "naq", "sat", "se", "sma", "smj", "smn", "sms": self = .hebrew
    case "ga": self = .irish
    case "lv", "prg": self = .latvian
    case "lt": self = .lithuanian
    case "mt": self = .maltese
    case "pl": self = .polish
    case "ro": self = .romanian
    case "be", "ru", "uk": self = .russian
    case "bs", "hr", "sr": self = .serbian
    case "dsb", "hsb", "sl": self = .slovenian
    case "cy": self = .welsh
    case "blo", "ksh", "lag": self = .zeroIsZero
    case "br": self = .breton
    case "kw": self = .cornish
    case "gv": self = .manx
    case "shi": self = .tachelhit
    case "tzm": self = .tamazight
    default: self = .none
    }
  }

  package func category(of count: Int) -> PluralCategory {
    let number = count.magnitude
    let (tens, hundreds) = (number % 10, number % 100)
    switch self {
    case .none: return .other
    case .oneIsOne: return number == 1 ? .one : .other
    case .zeroIsZero: return [0: .zero, 1: .one][number] ?? .other
    case .zeroAndOne: return number <= 1 ? .one : .other
    case .oneOfTens: return tens == 1 && hundreds != 11 ? .one : .other
    case .oneAndMillions: return number == 1 ? .one : Self.isMillions(number) ? .many : .other
    case .zeroOneAndMillions: return number <= 1 ? .one : Self.isMillions(number) ? .many : .other
    case .arabic: return Self.arabic(number, hundreds)
    case .breton: return Self.breton(number)
    case .cornish: return Self.cornish(number)
    case .czech: return number == 1 ? .one : (2...4).contains(number) ? .few : .other
    case .filipino: return (1...3).contains(number) || ![4, 6, 9].contains(tens) ? .one : .other
    case .gaelic: return Self.gaelic(number)
    case .hebrew: return number == 1 ? .one : number == 2 ? .two : .other
    case .irish: return Self.irish(number)
    case .latvian:
      return tens == 0 || (11...19).contains(hundreds) ? .zero : tens == 1 ? .one : .other
    case .lithuanian:
      return (11...19).contains(hundreds) || tens == 0 ? .other : tens == 1 ? .one : .few
    case .maltese: return Self.maltese(number, hundreds)
    case .manx: return tens == 1 ? .one : tens == 2 ? .two : hundreds % 20 == 0 ? .few : .other
    case .polish: return number == 1 ? .one : Self.isSlavicFew(tens, hundreds) ? .few : .many
    case .romanian:
      return number == 1 ? .one : number == 0 || (1...19).contains(hundreds) ? .few : .other
    case .russian:
      return tens == 1 && hundreds != 11 ? .one : Self.isSlavicFew(tens, hundreds) ? .few : .many
    case .serbian:
      return tens == 1 && hundreds != 11 ? .one : Self.isSlavicFew(tens, hundreds) ? .few : .other
    case .slovenian: return [1: .one, 2: .two, 3: .few, 4: .few][hundreds] ?? .other
    case .tachelhit: return number <= 1 ? .one : number <= 10 ? .few : .other
    case .tamazight: return number <= 1 || (11...99).contains(number) ? .one : .other
    case .welsh: return [0: .zero, 1: .one, 2: .two, 3: .few, 6: .many][number] ?? .other
    }
  }

  /// Whether the category stands for a single number, so that its form may omit the number.
  func isOneNumber(_ category: PluralCategory) -> Bool {
    (0...200).count { self.category(of: $0) == category } == 1
  }

  private static func isMillions(_ number: UInt) -> Bool { number != 0 && number % 1_000_000 == 0 }

  private static func isSlavicFew(_ tens: UInt, _ hundreds: UInt) -> Bool {
    (2...4).contains(tens) && !(12...14).contains(hundreds)
  }

  private static func arabic(_ number: UInt, _ hundreds: UInt) -> PluralCategory {
    switch number {
    case 0: .zero
    case 1: .one
    case 2: .two
    default: (3...10).contains(hundreds) ? .few : (11...99).contains(hundreds) ? .many : .other
    }
  }

  private static func breton(_ number: UInt) -> PluralCategory {
    let (tens, hundreds) = (number % 10, number % 100)
    switch hundreds / 10 {
    case 1, 7, 9: return .other
    default: break
    }
    switch tens {
    case 1: return .one
    case 2: return .two
    case 3, 4, 9: return .few
    default: return isMillions(number) ? .many : .other
    }
  }

  private static func cornish(_ number: UInt) -> PluralCategory {
    if number <= 1 { return number == 0 ? .zero : .one }
    switch number % 100 {
    case 2, 22, 42, 62, 82: return .two
    case 3, 23, 43, 63, 83: return .few
    case 1, 21, 41, 61, 81: return .many
    default: break
    }
    guard number % 1_000 == 0 else { return .other }
    switch number % 100_000 {
    case 1_000...20_000, 40_000, 60_000, 80_000: return .two
    default: return number % 1_000_000 == 100_000 ? .two : .other
    }
  }

  private static func gaelic(_ number: UInt) -> PluralCategory {
    switch number {
    case 1, 11: .one
    case 2, 12: .two
    case 3...10, 13...19: .few
    default: .other
    }
  }

  private static func irish(_ number: UInt) -> PluralCategory {
    switch number {
    case 1: .one
    case 2: .two
    case 3...6: .few
    case 7...10: .many
    default: .other
    }
  }

  private static func maltese(_ number: UInt, _ hundreds: UInt) -> PluralCategory {
    switch number {
    case 1: .one
    case 2: .two
    default: number == 0 || (3...10).contains(hundreds) ? .few : (11...19).contains(hundreds) ? .many : .other
    }
  }
}
