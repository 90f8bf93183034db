// Types of the public declarations here: a program imports this module alone.
@_exported public import CrashpadCore
