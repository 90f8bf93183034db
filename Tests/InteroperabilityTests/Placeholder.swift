import Testing

@Test func `it runs`() {}
