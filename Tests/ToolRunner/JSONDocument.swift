// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A parsed JSON document, read by Foundation: what is missing reads as null, so a test can ask for any depth.
public struct JSONDocument {
  private let value: Any?

  public init(_ data: Data) throws { value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) }
  private init(_ value: Any?) { self.value = value }

  public subscript(key: String) -> JSONDocument { JSONDocument((value as? [String: Any])?[key]) }
  public subscript(index: Int) -> JSONDocument {
    guard let list = value as? [Any], list.indices.contains(index) else { return JSONDocument(nil) }
    return JSONDocument(list[index])
  }

  public var array: [JSONDocument] { (value as? [Any] ?? []).map { JSONDocument($0) } }
  public var keys: Set<String> { Set((value as? [String: Any] ?? [:]).keys) }
  public var string: String? { value as? String }
  public var int: Int? { (value as? NSNumber)?.intValue }
  public var bool: Bool? { (value as? NSNumber)?.boolValue }
  public var isNull: Bool { value == nil || value is NSNull }
  /// A number that is written as "0x…".
  public var hex: UInt64? { string.flatMap { $0.hasPrefix("0x") ? UInt64($0.dropFirst(2), radix: 16) : nil } }
}
