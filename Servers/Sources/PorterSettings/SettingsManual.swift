/// The manual and a sample file, generated from the same table as the help so that they cannot differ.
extension SettingsTable {
  /// A page of section 8, in the macros of man(7).
  public var manual: String {
    var lines = [
      ".TH \(program.uppercased()) 8 \"\" Nightporter \"System administration\"", ".SH NAME",
      "\(Self.roff(program)) \\- \(Self.roff(summary))", ".SH SYNOPSIS", ".B \(Self.roff(program))",
      "[\\fICOMMAND\\fR] [\\fIFLAGS\\fR]",
    ]
    lines.append(".SH COMMANDS")
    for (index, command) in commands.enumerated() {
      lines += entry("\\fB\(Self.roff(command.name))\\fR", command.help + (index == 0 ? " (the default)" : ""))
    }
    lines.append(".SH OPTIONS")
    for setting in settings {
      let fallback = setting.fallback.map { "; by default \($0)" } ?? ""
      lines += entry(
        "\\fB\\-\\-\(Self.roff(setting.name))\\fR \\fI\(Self.roff(setting.kind.placeholder))\\fR",
        setting.help + fallback)
    }
    lines += entry("\\fB\\-\\-config\\fR \\fIPATH\\fR", "file with settings; by default \(defaultFile), if it exists")
    lines += entry("\\fB\\-\\-print\\-config\\fR", "print what is configured, and where, without secrets")
    lines += entry("\\fB\\-\\-sample\\-config\\fR", "print a file with every setting")
    lines += entry("\\fB\\-\\-manual\\fR", "print this page")
    lines += entry("\\fB\\-\\-help\\fR", "print commands and flags")
    lines += [
      ".SH CONFIGURATION",
      "Each option can also be a line \\fIname\\fR = \\fIvalue\\fR of the file, or a variable of the environment, which is",
      "stronger than the file. An option of the command line is stronger than both. In the file, # begins a comment.",
      ".SH ENVIRONMENT",
    ]
    for name in settings.map(\.name) + ["config"] {
      lines += [".TP", ".B \(variable(name))", "\\-\\-\(Self.roff(name))"]
    }
    lines += [".SH FILES", ".TP", ".I \(Self.roff(defaultFile))", "settings"]
    for note in notes { lines += [".SH \(note.title)", Self.roff(note.text)] }
    return lines.joined(separator: "\n") + "\n"
  }

  private func entry(_ head: String, _ text: String) -> [String] { [".TP", head, Self.roff(text)] }

  /// Every setting as a comment with its help and its default.
  public var sample: String {
    var text = "# \(program): \(summary). See \(program)(8).\n"
    for setting in settings {
      text += "\n# \(setting.help)\n#\(setting.name) = \(setting.fallback ?? setting.kind.placeholder)\n"
    }
    return text
  }

  /// Escapes characters that roff would interpret.
  private static func roff(_ text: String) -> String {
    var result = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if !result.isEmpty { result += "\n" }
      // A control character at the start of a line begins a request.
      if line.hasPrefix(".") || line.hasPrefix("'") { result += "\\&" }
      for character in line {
        switch character {
        case "\\": result += "\\e"
        case "-": result += "\\-"
        case "'": result += "\\(aq"
        default: result.append(character)
        }
      }
    }
    return result
  }
}
