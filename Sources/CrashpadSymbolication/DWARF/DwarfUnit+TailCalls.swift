// SPDX-License-Identifier: Apache-2.0

/// Functions that ended with a jump to another one, and so left no frame: the entries of calls say which these can be.
extension DwarfUnit {
  /// Longer chains of jumps are not followed.
  private static let mostJumps = 16

  /// The functions through which the call led that returns to `address`, the first one first, as far as there is one way only.
  ///
  /// - Parameters:
  ///   - callee: the function in which it ended, as the symbols have it; nil if that is not known.
  ///   - isEnd: whether a function is that one; nil if that is not known.
  ///   - other: the function with a name that this unit only declares.
  /// - Returns: empty if the call's target is not known, or not defined in this file.
  func callPath(
    returningTo address: UInt64, in caller: DwarfFunction, to callee: String?, isEnd: (DwarfFunction) -> Bool?,
    _ other: (String) -> (unit: DwarfUnit, function: DwarfFunction)?
  ) -> [CalledFunction] {
    var path: [CalledFunction] = []
    guard let site = caller.callSites.all.first(where: { $0.returnAddress == address && !$0.isTail }) else { return [] }
    var (unit, target) = (self, site.target)
    var seen: Set<UInt64> = []
    var isCertain = true
    while let offset = target, path.count < Self.mostJumps {
      guard let (next, function, entry) = unit.called(at: offset, callee, other), seen.insert(function.offset).inserted
      else { break }
      unit = next
      let jumps = function.callSites.all.filter(\.isTail)
      let hasOneWay = Set(jumps.map(\.target)).count == 1 && jumps[0].target != nil
      let inlined = hasOneWay && Set(jumps.map(\.inlined)).count == 1 ? jumps[0].inlined : []
      let hasEnded = isEnd(function)
      path.append(
        CalledFunction(
          function: next.frame(at: entry), inlined: inlined.map { next.frame(at: $0) },
          targets: jumps.map { $0.target.flatMap { next.namedFunction(at: $0).name } }, isCertain: isCertain,
          isEnd: hasEnded))
      if hasEnded == true { break }
      isCertain = isCertain && function.callSites.areAll
      target = hasOneWay ? jumps[0].target : nil
    }
    return path
  }

  /// The function whose entry is at `offset`, which another unit may define, and the entry with its name.
  private func called(
    at offset: UInt64, _ callee: String?, _ other: (String) -> (unit: DwarfUnit, function: DwarfFunction)?
  ) -> (unit: DwarfUnit, function: DwarfFunction, entry: UInt64)? {
    guard let entries else { return nil }
    if entries.sections.isDefinition(at: offset) { return definition(of: offset).map { (self, $0, offset) } }
    // A call that ended in its target went no further, nor did one for which the loader searched the target.
    guard let callee, let name = namedFunction(at: offset).name, !TailCall.isSame(name, callee),
      !callee.hasPrefix("_dl_")
    else { return nil }
    return other(name).map { ($0.unit, $0.function, $0.function.offset) }
  }
}
