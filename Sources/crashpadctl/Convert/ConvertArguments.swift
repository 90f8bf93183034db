import CrashpadCore

/// The arguments of `convert`, from the argument parser or from `QuickCommand`.
struct ConvertArguments {
  var dumps: [String]
  /// The inputs; nil for those that the paths name.
  var list: InputList?
  var output: String?
  var options = ConvertRun.Options()
  var format = OutputFormat.text
  var isQuiet = false

  func run() throws {
    let target = options.conversion.target
    let list = list ?? InputList(dumps, accepting: InputFormat.converting(to: target))
    let plan: OutputPlan
    do { plan = try OutputPlan(list, output: output, target: target) } catch {
      throw Terminal.failure(error.text, error.status)
    }
    let printer = ConvertPrinter(target: target, format: format, isQuiet: isQuiet)
    throw ConvertRun(options: options, list: list, plan: plan, printer: printer).run()
  }
}
