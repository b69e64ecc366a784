# Tests of GoogleTest that are over sooner than their program begins: ctest knows their suites, and what one prints names the test that has
# failed. gtest_discover_tests knows each test.

# idlewave_discover_suites(test_wire PREFIX wire. WITHOUT Slow.* LAUNCHER chrt -i 0 PROPERTIES TIMEOUT 120): once test_wire is built.
function(idlewave_discover_suites target)
  cmake_parse_arguments(A "" "PREFIX;WITHOUT" "LAUNCHER;PROPERTIES" ${ARGN})
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  add_custom_command(TARGET ${target} POST_BUILD
    BYPRODUCTS ${found}
    COMMAND ${CMAKE_COMMAND} -D "program=$<TARGET_FILE:${target}>" -D "prefix=${A_PREFIX}" -D "without=${A_WITHOUT}"
      -D "launcher=${A_LAUNCHER}" -D "properties=${A_PROPERTIES}" -D "found=${found}" -P ${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake
    VERBATIM)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include_suites.cmake)
  file(WRITE ${include}
    "if(EXISTS \"${found}\")\n  include(\"${found}\")\nelse()\n  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
