# Adding a variant is one file: copies the tree, adds the sample of docs/adding_a_variant.md, builds, and runs the sample
# experiment, which names it.
#
#   cmake -DSOURCE=<tree> -DWORK=<scratch folder> -DCOMPILER=<c++> -DBUILD_TYPE=<type> -DWERROR=<ON|OFF>
#         -DUNITY=<ON|OFF> [-DLAUNCHER=<ccache>] -P adding_a_variant.cmake
#
# The copy lies as far from its build folder (build/copy) as a checkout from one of its presets', and is compiled alike,
# so that a compiler cache finds all of it but the new file.
cmake_minimum_required(VERSION 3.25)

function(run_or_fail what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Writes the fenced block that follows "<!-- sample: <name> -->" in the document to `to`.
function(extract_sample document name to)
  file(READ ${document} text)
  set(marker "<!-- sample: ${name} -->")
  string(FIND "${text}" "${marker}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${document} has no ${marker}")
  endif()
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "```" fence)
  string(SUBSTRING "${text}" ${fence} -1 text)
  string(FIND "${text}" "\n" line_end)
  math(EXPR begin "${line_end} + 1")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  file(WRITE ${to} "${text}")
endfunction()

set(tree ${WORK}/tree)
set(build ${tree}/build/copy)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${tree})
foreach(part CMakeLists.txt apps cmake configs kernels profiler)
  file(COPY ${SOURCE}/${part} DESTINATION ${tree})
endforeach()

set(document ${SOURCE}/docs/adding_a_variant.md)
extract_sample(${document} kernels/vector/add_grid_stride.cu ${tree}/kernels/vector/add_grid_stride.cu)
extract_sample(${document} mine.json ${WORK}/mine.json)

set(options -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_COMPILER=${COMPILER} -DGPUEXP_WERROR=${WERROR}
            -DGPUEXP_UNITY=${UNITY}
            -DGPUEXP_TESTS=OFF -DGPUEXP_CUDA=OFF)
if(LAUNCHER)
  set(ENV{CCACHE_BASEDIR} ${tree})
  set(ENV{CCACHE_NOHASHDIR} 1)
  list(APPEND options -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
endif()
run_or_fail("configuring" ${CMAKE_COMMAND} -S ${tree} -B ${build} -G Ninja ${options})
run_or_fail("building" ${CMAKE_COMMAND} --build ${build} --target gpuexp)

run_or_fail("gpuexp list" ${build}/gpuexp list variants)
if(NOT output MATCHES "vector/add_grid_stride")
  message(FATAL_ERROR "gpuexp list variants does not show the new variant:\n${output}")
endif()
run_or_fail("gpuexp run" ${build}/gpuexp run ${WORK}/mine.json --backend simt --out ${WORK}/out)
file(READ ${WORK}/out/mine.simt.csv rows)
string(REGEX MATCHALL "vector/add_grid_stride" found "${rows}")
list(LENGTH found count)
if(count LESS 2)
  message(FATAL_ERROR "expected both points of vector/add_grid_stride among the results:\n${rows}")
endif()
file(REMOVE_RECURSE ${WORK})
