// SPDX-License-Identifier: Apache-2.0
/// libFuzzer's own changes.
@_silgen_name("LLVMFuzzerMutate")
private func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int) -> Int

/// Changes some bytes of the parts that `parts` finds, and now and then of anything.
///
/// - Parameters:
///   - data: an input with room for `maximum` bytes.
///   - size: of the input.
///   - maximum: the size that it may get.
///   - seed: of chance.
///   - parts: finds the parts in an input.
/// - Returns: The new size.
package func mutate(
  _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int, _ seed: UInt32,
  parts: (UnsafeBufferPointer<UInt8>) -> [Range<Int>]
) -> Int {
  var random = UInt64(seed) &+ 0x9e37_79b9_7f4a_7c15
  func next(_ bound: Int) -> Int {
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    return Int(random % UInt64(bound))
  }
  for _ in 0..<8 { _ = next(2) }
  let found = unsafe parts(UnsafeBufferPointer(start: data, count: size))
  guard !found.isEmpty, next(16) > 0 else { return unsafe mutate(data, size, maximum) }
  for _ in 0...next(4) {
    let part = found[next(found.count)]
    let length = min(part.count, [4, 8, 16, 64, 1024][next(5)])
    let start = part.lowerBound + next(part.count - length + 1)
    // A shorter part leaves the bytes behind it as they were.
    _ = unsafe mutate(data + start, length, length)
  }
  return size
}
