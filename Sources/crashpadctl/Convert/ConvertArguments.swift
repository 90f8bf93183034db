import CrashpadCore

/// The arguments of `convert`, from the argument parser or from `QuickCommand`.
struct ConvertArguments {
  var dumps: [String]
  var output: String?
  var conversion = Conversion(to: .minidump)
  /// The number of inputs converted at once; 0 for one per CPU.
  var jobs = 0
  var keepsGoing = false
  /// Whether each output is flushed to disk.
  var isDurable = false
  var format = OutputFormat.text
  var isQuiet = false

  func run() throws {
    let target = conversion.target
    let list = InputList(dumps, accepting: InputFormat.converting(to: target))
    let plan: OutputPlan
    do { plan = try OutputPlan(list, output: output, target: target) } catch {
      throw Terminal.failure(error.text, error.status)
    }
    let run = ConvertRun(
      options: ConvertRun.Options(conversion: conversion, jobs: jobs, keepsGoing: keepsGoing, isDurable: isDurable),
      list: list, plan: plan, printer: ConvertPrinter(target: target, format: format, isQuiet: isQuiet))
    throw run.run()
  }
}
