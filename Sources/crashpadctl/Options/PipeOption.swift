import ArgumentParser
import CrashpadFiles

/// `--pipe-limit`, for commands that read dumps from pipes.
struct PipeOption: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Read pipes of up to this size, e.g. 4GiB. Without it, 1 GiB.", valueName: "size"))
  var pipeLimit: SizeArgument?

  /// Sets the global limit, because inputs are opened in many places.
  func validate() throws {
    if let pipeLimit { InputFile.pipeLimit = Int(clamping: pipeLimit.bytes) }
  }
}
