// SPDX-License-Identifier: Apache-2.0
internal import Glibc
private let mutantNumber: Int = unsafe getenv("MUT").flatMap { unsafe Int(String(cString: $0)) } ?? -1
@inline(never) func mut(_ n: Int) -> Bool { mutantNumber == n }
