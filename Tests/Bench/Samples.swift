// SPDX-License-Identifier: Apache-2.0
/// Many runs of one thing. The median says what it takes on this machine now, the minimum what it takes undisturbed.
struct Samples {
  var values: [Double] = []

  var median: Double {
    let sorted = values.sorted()
    guard let last = sorted.last else { return .nan }
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : min(last, sorted[middle])
  }

  var minimum: Double { values.min() ?? .nan }

  /// The ratio of each run to the other's run in the same round: other work on the machine affects both.
  func paired(with other: Samples, _ compare: (Double, Double) -> Double) -> Samples {
    Samples(values: zip(values, other.values).map(compare))
  }
}

/// One of the programs that are compared.
struct Contender {
  let name: String
  let command: Command
  /// Removes the files that would disturb the next run, before the clock starts.
  let output: String?
  /// Makes the files that each run needs, before the clock starts.
  let prepare: (() throws -> Void)?

  init(_ name: String, _ command: Command, output: String? = nil, prepare: (() throws -> Void)? = nil) {
    self.name = name
    self.command = command
    self.output = output
    self.prepare = prepare
  }
}

/// All runs of one contender.
struct Timing {
  let name: String
  var wall = Samples()
  var user = Samples()
  var system = Samples()
  var peakBytes = 0
}

extension Workspace {
  /// Runs A B C A B C …, so that a disturbance of the machine meets all of them. The first round is not counted: it brings
  /// inputs and programs into the page cache.
  func interleave(_ contenders: [Contender], rounds: Int) throws -> [Timing] {
    var results = contenders.map { Timing(name: $0.name) }
    for round in 0...rounds {
      for (index, contender) in contenders.enumerated() {
        if let output = contender.output { try putAside(output) }
        try contender.prepare?()
        let measurement = try run(contender.command)
        guard round > 0 else { continue }
        results[index].wall.values.append(measurement.seconds)
        results[index].user.values.append(measurement.userSeconds)
        results[index].system.values.append(measurement.systemSeconds)
        results[index].peakBytes = max(results[index].peakBytes, measurement.peakBytes)
      }
    }
    for contender in contenders {
      if let output = contender.output { try putAside(output) }
    }
    try remove(aside)
    return results
  }
}
