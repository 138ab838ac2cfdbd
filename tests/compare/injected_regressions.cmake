# gpuexp_regressed: gpuexp with two kernels made worse on purpose, as an edit would. `gpuexp diff` must catch both.
# Included behind gpuexp_test(cli).

# Writes kernels/<file> with `from` replaced by `to` below the build folder, and appends its path to `list`.
function(gpuexp_regress file from to list)
  set(original ${CMAKE_SOURCE_DIR}/kernels/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
  file(READ ${original} text)
  string(REPLACE "${from}" "${to}" worse "${text}")
  if(worse STREQUAL text)
    message(FATAL_ERROR "kernels/${file} holds no '${from}': say in ${CMAKE_CURRENT_FUNCTION_LIST_FILE} how to make it worse")
  endif()
  set(copy ${CMAKE_BINARY_DIR}/generated/regressed/${file})
  file(CONFIGURE OUTPUT ${copy} CONTENT "${worse}" @ONLY)
  set(${list} ${${list}} ${copy} PARENT_SCOPE)
endfunction()

# The padding removed: bank conflicts. The indices swapped: right results, uncoalesced loads.
gpuexp_regress(transpose/smem_padded.cu "tile[TILE][TILE + 1]" "tile[TILE][TILE]" regressed_kernels)
gpuexp_regress(matmul/tiled.cu "tx = threadIdx.x, ty = threadIdx.y" "tx = threadIdx.y, ty = threadIdx.x" regressed_kernels)

gpuexp_simt_kernels(gpuexp_regressed_kernels ${regressed_kernels})
add_executable(gpuexp_regressed $<TARGET_OBJECTS:gpuexp>)
set_target_properties(gpuexp_regressed PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(gpuexp_regressed PRIVATE gpuexp_problems gpuexp_regressed_kernels
                      gpuexp_matrix gpuexp_run gpuexp_compare gpuexp_settings CLI11::CLI11)
target_compile_definitions(test_cli PRIVATE GPUEXP_REGRESSED_BINARY="$<TARGET_FILE:gpuexp_regressed>")
add_dependencies(test_cli gpuexp_regressed)
