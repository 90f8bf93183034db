/// Names as people write them.
public struct Demangler: Sendable {
  public static func demangle(_ symbol: String) -> String? { nil }
}
