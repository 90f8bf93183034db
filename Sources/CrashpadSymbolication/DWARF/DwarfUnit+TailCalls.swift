// SPDX-License-Identifier: Apache-2.0

/// Functions that ended with a jump to another one, and so left no frame: the entries of calls say which these can be.
extension DwarfUnit {
  /// Longer chains of jumps are not followed.
  private static let mostJumps = 16

  /// The functions through which the call led that returns to `address`, the first one first, as far as there is one way only.
  ///
  /// - Returns: empty if the call's target is not known, or not defined in this unit.
  func callPath(returningTo address: UInt64, in caller: DwarfFunction) -> [CalledFunction] {
    var path: [CalledFunction] = []
    guard let site = caller.callSites.all.first(where: { $0.returnAddress == address && !$0.isTail }) else { return [] }
    var target = site.target
    var seen: Set<UInt64> = []
    var isCertain = true
    while let offset = target, path.count < Self.mostJumps, caller.entries.sections.isDefinition(at: offset) {
      guard let function = definition(of: offset), seen.insert(function.offset).inserted else { break }
      let jumps = function.callSites.all.filter(\.isTail)
      let hasOneWay = Set(jumps.map(\.target)).count == 1 && jumps[0].target != nil
      let inlined = hasOneWay && Set(jumps.map(\.inlined)).count == 1 ? jumps[0].inlined : []
      path.append(
        CalledFunction(
          function: frame(at: offset), inlined: inlined.map { frame(at: $0) },
          targets: jumps.map { $0.target.flatMap { namedFunction(at: $0).name } }, isCertain: isCertain))
      isCertain = isCertain && function.callSites.areAll
      target = hasOneWay ? jumps[0].target : nil
    }
    return path
  }
}
