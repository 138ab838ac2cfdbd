# Files compiled into the binary, so that `gpuexp run tile_sweep` works from any directory.
#
# gpuexp_embed(<name> <folder> [extension]) makes a source file that defines
#   std::span<const gpuexp::EmbeddedFile> gpuexp::<name>();      // profiler/core/embedded.h
# with every *.json (or *.<extension>) of the folder (not of its subfolders), sorted by name, and sets <name> to its path.
function(gpuexp_embed name folder)
  set(extension json)
  if(ARGC GREATER 2)
    set(extension ${ARGV2})
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.${extension})
  list(SORT files)
  set(output ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DFILES=${files}" -DOUTPUT=${output}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedScript.cmake
    DEPENDS ${files} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedScript.cmake
    COMMENT "Embedding ${name}" VERBATIM)
  set(${name} ${output} PARENT_SCOPE)
endfunction()
