# Flags shared by every target live on one interface target; rooms and tests are declared through two functions.
find_package(Threads REQUIRED)

add_library(pto_options INTERFACE)
target_compile_features(pto_options INTERFACE cxx_std_20)
target_include_directories(pto_options INTERFACE ${PROJECT_SOURCE_DIR})
# -ffp-contract=off: values must repeat bit for bit on every machine, so no fused multiply-add that was not written.
target_compile_options(pto_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off)
target_link_libraries(pto_options INTERFACE Threads::Threads)
if (XPTO_SANITIZE)
  target_compile_options(pto_options INTERFACE -fsanitize=${XPTO_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(pto_options INTERFACE -fsanitize=${XPTO_SANITIZE})
endif()

# pto_room(<name> SOURCES a.cpp b.cpp LINKS pto_base pto_isa): one static, position independent library per engine folder.
function(pto_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
  add_library(pto_${name} STATIC ${ROOM_SOURCES})
  set_property(GLOBAL APPEND PROPERTY PTO_ROOMS pto_${name}) # kernel/ makes one shared library of them
  set_target_properties(pto_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(pto_${name} PUBLIC pto_options ${ROOM_LINKS})
endfunction()

# pto_test(<name> SOURCES a.cpp LINKS pto_isa): one Catch2 executable, registered with CTest.
function(pto_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(test_${name} ${T_SOURCES})
  target_link_libraries(test_${name} PRIVATE pto_options pto_test_main ${T_LINKS})
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
