# Packages, all from the system, and the settings every target of ours shares.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_path(LIBDW_INCLUDE_DIR elfutils/libdwfl.h REQUIRED)
find_library(LIBDW_LIBRARY dw REQUIRED)
find_library(LIBELF_LIBRARY elf REQUIRED)

# Version and commit as `gpuexp --version` prints them; the commit is empty outside a checkout.
execute_process(COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE GPUEXP_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)

add_library(gpuexp_settings INTERFACE)
target_include_directories(gpuexp_settings INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(gpuexp_settings INTERFACE fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
target_compile_features(gpuexp_settings INTERFACE cxx_std_20)
target_compile_options(gpuexp_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                       -Wold-style-cast -Wcast-align -Woverloaded-virtual -Wconversion -Wno-sign-conversion -Wnull-dereference>)
# g++ 12 sees overlapping copies in `"literal" + std::string` where there are none (GCC bug 105651).
target_compile_options(gpuexp_settings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
if(GPUEXP_WERROR)
  target_compile_options(gpuexp_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(GPUEXP_SANITIZE)
  # Not in CMAKE_CXX_FLAGS_<CONFIG>, so that the kernel objects, which have no sanitizer, are compiled as in other presets and a
  # compiler cache has them already.
  target_compile_options(gpuexp_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GPUEXP_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all -O0 -g1 -UNDEBUG>)
  target_link_options(gpuexp_settings INTERFACE -fsanitize=${GPUEXP_SANITIZE})
endif()
if(GPUEXP_COVERAGE)
  target_compile_options(gpuexp_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fprofile-instr-generate -fcoverage-mapping>)
  target_link_options(gpuexp_settings INTERFACE -fprofile-instr-generate)
endif()
target_compile_definitions(gpuexp_settings INTERFACE GPUEXP_VERSION="${PROJECT_VERSION}")

# What only the emulator needs: DWARF.
add_library(gpuexp_simt_settings INTERFACE)
target_link_libraries(gpuexp_simt_settings INTERFACE ${LIBDW_LIBRARY} ${LIBELF_LIBRARY})
target_include_directories(gpuexp_simt_settings SYSTEM INTERFACE ${LIBDW_INCLUDE_DIR})
