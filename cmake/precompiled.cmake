# Headers that are read once; docs/building.md says what that gives. A compiler takes a precompiled header only with the flags and macros
# that it was made with: so there is one each for libraries, programs and tests, and what fmt defines is defined everywhere.
option(IDLEWAVE_PRECOMPILE "Read once the headers that most files include; the preset debug does not, so that none relies on it" ON)

set(idlewave_common_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <deque> <filesystem> <functional> <map>
  <memory> <optional> <span> <string> <string_view> <system_error> <utility> <variant> <vector> <fmt/format.h>)

target_compile_definitions(idlewave_flags INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)

# idlewave_precompile(test_headers LINKS GTest::gmock HEADERS <vector>): target idlewave_test_headers, which holds the headers as those who
# link that library read them.
function(idlewave_precompile name)
  cmake_parse_arguments(A "" "" "LINKS;HEADERS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/idlewave_${name}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")  # CMake wants a file that includes them
  endif()
  add_library(idlewave_${name} OBJECT ${source})
  target_link_libraries(idlewave_${name} PRIVATE idlewave_flags ${A_LINKS})
  target_precompile_headers(idlewave_${name} PRIVATE ${A_HEADERS})
endfunction()

# idlewave_read_once(test_wire test_headers): the files of test_wire begin where those headers end.
function(idlewave_read_once target headers)
  if(NOT TARGET idlewave_${headers})
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM idlewave_${headers})
  # ccache wants to be told. GCC 12 warns of its own operator+ of strings, and forgets that a precompiled header is one of the system.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow>)
endfunction()

# idlewave_compile_quickly(test_wire): with -O1. GCC takes a precompiled header that was read with -O2 for it, from 13 on only where these
# options of the processor, which come with -O2, are the same.
function(idlewave_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set(of_processor "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|i.86" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    set(of_processor -munroll-only-small-loops -mvzeroupper)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 14)
    set(of_processor -mearly-ra=all)
  endif()
  if(IDLEWAVE_PRECOMPILE)
    target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:${of_processor}>")
  endif()
endfunction()

# With sanitizers GCC 12 itself breaks off on a file that begins with a precompiled header.
if(IDLEWAVE_SANITIZE)
  set(IDLEWAVE_PRECOMPILE OFF)
endif()

if(IDLEWAVE_PRECOMPILE)
  idlewave_precompile(library_headers HEADERS ${idlewave_common_headers})
  idlewave_precompile(program_headers HEADERS ${idlewave_common_headers})
  # Programs are compiled with another flag than libraries.
  set_target_properties(idlewave_program_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(idlewave_program_headers PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
endif()

if(IDLEWAVE_PRECOMPILE AND IDLEWAVE_TESTS)
  idlewave_precompile(test_headers LINKS GTest::gmock
    HEADERS ${idlewave_common_headers} <fstream> <random> <sstream> <thread> <gmock/gmock.h> <gtest/gtest.h>)
  set_target_properties(idlewave_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(idlewave_test_headers PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
endif()

option(IDLEWAVE_TOGETHER "Compile files several at once; the preset debug does not, so that none relies on what others include" ON)

# idlewave_compile_together(idlewave_view ALWAYS map_panel.cpp): the files of a target are compiled several at once, which reads their
# headers once, but for those that are named: their anonymous namespaces are one then, so files that mean two things by one name stay
# alone. WHEN_SANITIZED: only for a sanitizer, for which no header is precompiled and nothing is measured. How far GCC inlines hangs on
# the size of what it sees at once, so what has to be fast is compiled file by file otherwise.
function(idlewave_compile_together target when)
  if(NOT IDLEWAVE_TOGETHER OR NOT when OR (when STREQUAL WHEN_SANITIZED AND NOT IDLEWAVE_SANITIZE))
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
