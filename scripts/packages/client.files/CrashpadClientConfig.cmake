# find_package(CrashpadClient) defines two targets to link with:
#   CrashpadClient::crashpad_client         the shared library
#   CrashpadClient::crashpad_client_static  the archive
# Their include directories have crashpad_client.h for C and C++, and the module CCrashpadClient for Swift.

# Without links: /lib may be one to /usr/lib, and the prefix is counted from there.
get_filename_component(_crashpad_client_prefix "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
string(REGEX REPLACE "/@LIBDIR@/cmake/CrashpadClient/[^/]*$" "" _crashpad_client_prefix "${_crashpad_client_prefix}")

foreach(_crashpad_client_kind "" "_static")
  set(_crashpad_client_target CrashpadClient::crashpad_client${_crashpad_client_kind})
  if(NOT TARGET ${_crashpad_client_target})
    if(_crashpad_client_kind STREQUAL "")
      add_library(${_crashpad_client_target} SHARED IMPORTED)
      set_target_properties(${_crashpad_client_target} PROPERTIES
        IMPORTED_LOCATION "${_crashpad_client_prefix}/@LIBDIR@/libcrashpad_client.so"
        IMPORTED_SONAME libcrashpad_client.so)
    else()
      add_library(${_crashpad_client_target} STATIC IMPORTED)
      set_target_properties(${_crashpad_client_target} PROPERTIES
        IMPORTED_LOCATION "${_crashpad_client_prefix}/@LIBDIR@/libcrashpad_client.a"
        INTERFACE_LINK_LIBRARIES "m;pthread;dl")
    endif()
    set_target_properties(${_crashpad_client_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
      "${_crashpad_client_prefix}/include;${_crashpad_client_prefix}/include/CCrashpadClient")
  endif()
endforeach()
unset(_crashpad_client_kind)
unset(_crashpad_client_target)
unset(_crashpad_client_prefix)
