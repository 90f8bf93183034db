// SPDX-License-Identifier: Apache-2.0

/// Functions of C libraries in programs that have the library in their own file. A program can't have functions of these names
/// itself: the standards reserve them. No row of the table skips them where the library is a file of its own: there the first
/// one is the callee that tells two faults apart.
enum CLibraryFunctions {
  static func contains(_ name: String) -> Bool {
    functions.contains(name) || beginnings.contains { name.hasPrefix($0) }
  }

  /// Names that begin with an underscore and a capital letter, or with two underscores, are reserved. Compilers use them too,
  /// so only those of C libraries are listed.
  private static let beginnings = [
    "_IO_", "__vfprintf", "__vfwprintf", "__vfscanf", "__vfwscanf", "__vsnprintf", "__vsprintf", "__vasprintf",
    "__vdprintf", "__snprintf", "__sprintf", "__fprintf", "__printf", "__asprintf", "__dprintf", "__isoc99_",
    "__isoc23_",
    "____strto", "__strto", "__mktime", "__tz_", "__tzfile", "__strftime", "__gconv", "__nss_", "__getdelim",
    "__getaddrinfo", "__qsort", "__regcomp", "__regexec", "__add_to_environ",
  ]

  private static let functions: Set<String> = [
    "printf", "fprintf", "sprintf", "snprintf", "dprintf", "asprintf", "vprintf", "vfprintf", "vsprintf", "vsnprintf",
    "vdprintf", "vasprintf", "scanf", "fscanf", "sscanf", "vscanf", "vfscanf", "vsscanf", "fopen", "fopen64", "fdopen",
    "freopen", "fclose", "fread", "fwrite", "fgets", "fputs", "fputc", "fgetc", "getc", "putc", "puts", "putchar",
    "getline", "getdelim", "ungetc", "fseek", "ftell", "rewind", "fflush", "setvbuf", "perror", "qsort", "bsearch",
    "getenv", "secure_getenv", "setenv", "putenv", "unsetenv", "mktime", "timegm", "gmtime", "gmtime_r", "localtime",
    "localtime_r", "strftime", "strptime", "asctime", "ctime", "strtod", "strtof", "strtold", "atof", "opendir",
    "readdir", "closedir", "scandir", "getaddrinfo", "freeaddrinfo", "getnameinfo", "regcomp", "regexec", "regfree",
    "setlocale", "iconv", "iconv_open", "glob", "realpath", "getpwnam", "getpwuid", "syslog", "vsyslog",
  ]
}
