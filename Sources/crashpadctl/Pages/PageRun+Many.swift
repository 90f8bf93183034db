// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// A page about many crashes, and with `--split` one about the example of each group beside it.
extension PageRun {
  /// Groups with a page of their own.
  private static let pages = 2000

  func writeMany() -> ExitStatus {
    var part = CrashGroups.Part()
    let reader = CrashReader(
      signatures: SignatureOptions(
        SymbolCache(cache.search, names: .mangled), inApp: options.inApp.map { Glob($0) }),
      architecture: options.architecture, redacts: options.redacts)
    let status = BatchRun(list, jobs: options.jobs).run(
      work: { reader.read($0) },
      report: { _, result in
        part.add(result)
        return true
      })
    part.failed += list.failures.count
    let groups = CrashGroups(CrashGroups.Shard(run: "", number: 1, total: 1), part).groups(by: .signature)
    if groups.isEmpty, !list.inputs.isEmpty {
      Terminal.error("crashpadctl: error: none of \(TextFormat.count(list.inputs.count, "input")) could be read")
      return .noData
    }
    var maker = GroupsPageMaker(
      groups: groups, failed: part.failed, title: options.title.map { TextFormat.printable($0) })
    maker.baseline = baseline
    if baseline != nil, cache.search.hasOpenQuestions {
      Terminal.warning(
        "symbols could not be looked up: groups that are said to be new may be known ones without their names")
    }
    maker.sessions = sessions
    var page = maker.page()
    if options.splits {
      do { try writePages(of: groups, &page) } catch {
        Terminal.error(error.text)
        return error.status
      }
    } else {
      examples.add(to: &page, groups)
    }
    let written = PageFile.write(page.html(), to: output, .success)
    if written != .success { return written }
    SymbolOptions.reportFaults(cache.search)
    return status
  }

  // MARK: Examples

  private var examples: GroupExamples {
    GroupExamples(
      list, crashMaker, architecture: options.architecture, redacts: options.redacts, jobs: options.jobs)
  }

  /// Writes `OUT-crashes/ID.html` for each group.
  private func writePages(of groups: [CrashGroups.Group], _ page: inout GroupsPage) throws(PageFile.Failure) {
    let file = FilePath(argument: output)
    let stem = file.stem ?? "report"
    let name = "\(stem)-crashes"
    let folder = file.removingLastComponent().appending(name)
    do { try createDirectories(folder) } catch {
      let (text, status) = Sentences.failure(error, creating: true)
      throw PageFile.Failure(text: "\(TextFormat.printable(folder)): error: \(text)", status: status)
    }
    let examples = self.examples
    var failure: PageFile.Failure?
    var written: [Bool] = []
    parallelMapInOrder(
      count: min(groups.count, Self.pages), jobs: options.jobs,
      work: { index -> Result<Bool, PageFile.Failure> in
        guard let crash = examples.page(of: groups[index]) else { return .success(false) }
        do throws(PageFile.Failure) {
          try PageFile.write(crash.html(), to: folder.appending("\(groups[index].id).html"))
        } catch {
          return .failure(error)
        }
        return .success(true)
      },
      report: { _, result in
        switch result {
        case .success(let isWritten): written.append(isWritten)
        case .failure(let error): failure = error
        }
        return failure == nil
      })
    if let failure { throw failure }
    for (index, isWritten) in written.enumerated() where isWritten {
      page.groups[index].link = "\(Self.urlPath(name))/\(groups[index].id).html"
    }
  }

  /// A file's name as a part of a relative URL.
  private static func urlPath(_ name: String) -> String {
    // A colon in front would be that of a scheme; the path begins here.
    "./" + percentEncoded(ArgumentText.bytes(name), keeping: "-._~")
  }
}
