# Writes what ctest is to know of a program's suites (suites.cmake). A line of the list that does not begin with a space names one.
execute_process(COMMAND ${program} --gtest_list_tests --gtest_filter=-${without} OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n[^ \n]+\\." lines "\n${listed}")
list(JOIN properties "]==] [==[" properties)
set(script "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^\n(.*)\\.$" "\\1" suite "${line}")
  set(command ${launcher} ${program} "--gtest_filter=${suite}.*-${without}")
  list(JOIN command "]==] [==[" command)
  string(APPEND script "add_test([==[${prefix}${suite}]==] [==[${command}]==])\n"
    "set_tests_properties([==[${prefix}${suite}]==] PROPERTIES [==[${properties}]==])\n")
endforeach()
file(WRITE ${found} "${script}")
