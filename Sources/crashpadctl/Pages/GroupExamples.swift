// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// Reads the example of each group again, for a page about the groups.
struct GroupExamples: Sendable {
  let maker: CrashPageMaker
  let architecture: CPUArchitecture?
  let redacts: Bool
  /// The number of examples to read at once; nil for one per CPU.
  let jobs: Int?
  /// The argument that opens an input, by the name that a group has of it.
  private let arguments: [String: String]

  /// Groups whose examples are on the page itself.
  private static let onPage = 20
  /// Frames of such an example.
  private static let frames = 24

  init(
    _ list: InputList, _ maker: CrashPageMaker, architecture: CPUArchitecture?, redacts: Bool = false, jobs: Int?
  ) {
    self.maker = maker
    self.architecture = architecture
    self.redacts = redacts
    self.jobs = jobs
    // Standard input can be read but once.
    let inputs = list.inputs.filter { $0.argument != "-" }
    var arguments = Dictionary(inputs.map { ($0.name, $0.argument) }, uniquingKeysWith: { first, _ in first })
    // An index has absolute paths in place of names.
    if let folder = hint({ try FilePath.workingDirectory() }) {
      for input in inputs {
        arguments[input.absoluteArgument(FilePath(argument: input.argument), from: folder)] = input.argument
      }
    }
    self.arguments = arguments
  }

  /// The page of a group's example; nil if it can't be read any more.
  func page(of group: CrashGroups.Group) -> CrashPage? {
    guard let name = group.cell.example?.input, let argument = arguments[name] else { return nil }
    return hint {
      try DumpInput.inspect(argument, architecture, redacts: redacts) { dump in
        dump.snapshot.map { maker.page(dump, $0, name: lastPathComponent(name)) }
      }
    }
  }

  /// Adds the stacks of the largest groups.
  func add(to page: inout GroupsPage, _ groups: [CrashGroups.Group]) {
    var examples: [GroupsPage.Example?] = []
    parallelMapInOrder(
      count: min(groups.count, Self.onPage), jobs: jobs,
      work: { index -> GroupsPage.Example? in
        guard let crash = self.page(of: groups[index]) else { return nil }
        return GroupsPage.Example(summary: crash.summary, frames: crash.exampleFrames(limit: Self.frames))
      },
      report: { _, example in
        examples.append(example)
        return true
      })
    for (index, example) in examples.enumerated() { page.groups[index].crash = example }
  }
}
