import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
exit(bench(arguments))
