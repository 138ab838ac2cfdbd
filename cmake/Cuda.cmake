# The cuda backend. GPUEXP_CUDA=AUTO builds its GPU part when a toolkit is found, ON insists, OFF leaves it out; without
# it `cuda` is listed as unavailable, with reason and remedy, and everything else works.
#
# Nothing of CUDA is linked but the static runtime, which looks for the driver only when it is used. CUPTI, cuBLAS and
# cuSPARSE are opened at run time. So one program serves machines with and without a GPU.

set(GPUEXP_WITH_CUDA OFF)
set(gpuexp_cuda_oldest 12.8)  # first toolkit with the range profiler and host interfaces the backend counts with

# Sets GPUEXP_WITH_CUDA, or says in `why` what is missing.
macro(gpuexp_find_cuda why)
  set(${why} "")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    set(${why} "no CUDA compiler (nvcc) was found")
  else()
    # Machine code for A100 and H100/H200, and PTX that newer GPUs compile for themselves.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
    endif()
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    enable_language(CUDA)
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake learnt only in 3.26 that nvcc has C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    find_package(CUDAToolkit)
    find_path(GPUEXP_CUPTI_INCLUDE_DIR cupti_range_profiler.h
              HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include
              ${CUDAToolkit_TARGET_DIR}/../../extras/CUPTI/include)
    find_path(GPUEXP_CUBLAS_INCLUDE_DIR cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_path(GPUEXP_CUSPARSE_INCLUDE_DIR cusparse.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS gpuexp_cuda_oldest)
      set(${why} "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is older than ${gpuexp_cuda_oldest}")
    elseif(NOT GPUEXP_CUPTI_INCLUDE_DIR)
      set(${why} "the toolkit has no CUPTI headers (cupti_range_profiler.h)")
    elseif(NOT GPUEXP_CUBLAS_INCLUDE_DIR)
      set(${why} "the toolkit has no cuBLAS headers (cublas_v2.h)")
    elseif(NOT GPUEXP_CUSPARSE_INCLUDE_DIR)
      set(${why} "the toolkit has no cuSPARSE headers (cusparse.h)")
    else()
      set(GPUEXP_WITH_CUDA ON)
    endif()
  endif()
endmacro()

if(GPUEXP_CUDA STREQUAL ON OR GPUEXP_CUDA STREQUAL AUTO)
  gpuexp_find_cuda(gpuexp_cuda_missing)
  if(GPUEXP_WITH_CUDA)
    message(STATUS "cuda backend: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(GPUEXP_CUDA STREQUAL ON)
    message(FATAL_ERROR "GPUEXP_CUDA is ON, but ${gpuexp_cuda_missing}; install CUDA ${gpuexp_cuda_oldest} or newer with "
                        "CUPTI, cuBLAS and cuSPARSE, or name the compiler with -DCMAKE_CUDA_COMPILER=/path/to/nvcc")
  else()
    message(STATUS "cuda backend: without GPU code (${gpuexp_cuda_missing})")
  endif()
elseif(NOT GPUEXP_CUDA STREQUAL OFF)
  message(FATAL_ERROR "GPUEXP_CUDA is '${GPUEXP_CUDA}'; accepted: AUTO, ON, OFF")
endif()

# Settings of everything that sees the toolkit's headers.
add_library(gpuexp_cuda_settings INTERFACE)
if(GPUEXP_WITH_CUDA)
  target_include_directories(gpuexp_cuda_settings SYSTEM INTERFACE
                             ${CUDAToolkit_INCLUDE_DIRS} ${GPUEXP_CUPTI_INCLUDE_DIR} ${GPUEXP_CUBLAS_INCLUDE_DIR}
                             ${GPUEXP_CUSPARSE_INCLUDE_DIR})
  target_include_directories(gpuexp_cuda_settings INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
  cmake_path(GET CMAKE_CUDA_COMPILER PARENT_PATH gpuexp_cuda_bin)
  cmake_path(GET gpuexp_cuda_bin PARENT_PATH gpuexp_cuda_root)
  target_compile_definitions(gpuexp_cuda_settings INTERFACE GPUEXP_WITH_CUDA=1 GPUEXP_CUDA_TOOLKIT_ROOT="${gpuexp_cuda_root}")
  # Line numbers for profilers; they change no machine code.
  target_compile_options(gpuexp_cuda_settings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
endif()

# Adds the GPU part to the room backend/cuda, once that is defined.
function(gpuexp_cuda_backend)
  target_link_libraries(gpuexp_backend_cuda PRIVATE ${CMAKE_DL_LIBS})
  if(NOT GPUEXP_WITH_CUDA)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/profiler/backend/cuda/gpu)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS ${folder}/*.cu)
  target_sources(gpuexp_backend_cuda PRIVATE ${sources} ${kernels})
  target_link_libraries(gpuexp_backend_cuda PRIVATE gpuexp_cuda_settings PUBLIC CUDA::cudart_static)
endfunction()

# gpuexp_cuda_kernels(<target> <file.cu>...): an interface library that links these kernels, compiled by nvcc. A file with
# a line "// CUDA architectures: 90a-real" is compiled for those instead of the project's.
function(gpuexp_cuda_kernels target)
  add_library(${target} INTERFACE)
  if(NOT GPUEXP_WITH_CUDA)
    return()
  endif()
  set(wrappers "")
  foreach(kernel IN LISTS ARGN)
    gpuexp_kernel_wrapper(cuda ${kernel} wrapper)
    # The wrapper includes the kernel file; Ninja learns that from the compiler, Make from here.
    set_property(SOURCE ${wrapper} APPEND PROPERTY OBJECT_DEPENDS ${kernel})
    file(STRINGS ${kernel} architectures REGEX "^// CUDA architectures: [0-9a-z ;-]+$" LIMIT_COUNT 1)
    if(architectures)
      string(REPLACE "// CUDA architectures: " "" architectures "${architectures}")
      string(REPLACE " " ";" architectures "${architectures}")
      cmake_path(GET wrapper STEM id)
      gpuexp_cuda_objects(${target} ${target}_${id} "${wrapper}")
      set_target_properties(${target}_${id} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
    else()
      list(APPEND wrappers ${wrapper})
    endif()
  endforeach()
  gpuexp_cuda_objects(${target} ${target}_objects "${wrappers}")
  target_link_libraries(${target} INTERFACE gpuexp_backend_cuda)
endfunction()

# Adds an object library of these sources to the interface library.
function(gpuexp_cuda_objects target objects sources)
  add_library(${objects} OBJECT ${sources})
  target_link_libraries(${objects} PRIVATE gpuexp_cuda_settings)
  target_link_libraries(${target} INTERFACE $<TARGET_OBJECTS:${objects}>)
endfunction()
