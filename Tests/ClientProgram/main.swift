// SPDX-License-Identifier: Apache-2.0
import Dispatch

// client-program DATABASE STEP…: does the steps one by one on the main queue, and tells on standard output what came of each.
// The steps are in Steps.swift.
let steps = Steps(database: CommandLine.arguments[1])
DispatchQueue.main.async { steps.perform(CommandLine.arguments[2...]) }
dispatchMain()
