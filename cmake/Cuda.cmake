# SPDX-License-Identifier: MIT
# GPU kernels: appends the CUDA backend, or the file for builds without, to library_sources.

# Kernels for NVIDIA's GPUs: compiled by nvcc and embedded.  Nothing of CUDA is linked.
option(ATTEND_CUDA "kernels for NVIDIA GPUs, where nvcc is found" ON)
if(ATTEND_CUDA AND machine MATCHES "^(x86_64|aarch64)$" AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    # scripts/get_nvcc.sh puts one into build/nvcc.
    find_program(NVCC nvcc
        HINTS /usr/local/cuda/bin ${PROJECT_SOURCE_DIR}/build/nvcc/nvidia/cu13/bin)
endif()
if(ATTEND_CUDA AND NVCC AND NOT DEFINED ATTEND_NVCC_WORKS)
    # nvcc needs a C++ compiler of the host, and may not support it or the GPU.
    file(WRITE ${PROJECT_BINARY_DIR}/cuda/probe.cu "extern \"C\" __global__ void probe() {}\n")
    execute_process(COMMAND ${NVCC} -std=c++17 -gencode=arch=compute_90a,code=sm_90a -fatbin
            -o ${PROJECT_BINARY_DIR}/cuda/probe.fatbin ${PROJECT_BINARY_DIR}/cuda/probe.cu
        RESULT_VARIABLE nvcc_result OUTPUT_QUIET ERROR_QUIET)
    if(nvcc_result EQUAL 0)
        set(ATTEND_NVCC_WORKS ON CACHE INTERNAL "nvcc compiles for sm_90a")
    else()
        set(ATTEND_NVCC_WORKS OFF CACHE INTERNAL "nvcc compiles for sm_90a")
        message(STATUS "${NVCC} does not compile for sm_90a: no CUDA kernels")
    endif()
endif()
if(ATTEND_CUDA AND NVCC AND ATTEND_NVCC_WORKS)
    # Builds below build/ share their kernels.
    set(cuda_folder ${PROJECT_BINARY_DIR}/kernels)
    cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH above)
    if(above STREQUAL ${PROJECT_SOURCE_DIR}/build)
        set(cuda_folder ${above}/kernels)
    endif()
    file(MAKE_DIRECTORY ${cuda_folder})
    list(APPEND private_libs dl)
    file(GLOB cuda_sources CONFIGURE_DEPENDS src/cuda/host/*.c)
    list(APPEND library_sources ${cuda_sources})
    # General kernels are compiled to machine code for Hopper and PTX for other GPUs in
    # one pass; sm80 kernels are for other GPUs than Hopper.
    set(cuda_core src/cuda/instructions.cuh src/cuda/launch.h src/cuda/tile.cuh src/cuda/general/merge_launch.h
        src/cuda/general/sums_launch.h src/core/row_sums.c src/core/problem.h
        src/core/row_stats.h src/core/row_sums.h src/core/row_stats_read.h
        src/core/inspect_request.h src/core/shard.h src/base/base.h src/base/key_range.h
        include/attend/attend.h include/attend/fields.h include/attend/stats.h)
    file(GLOB cuda_sm90 RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS src/cuda/sm90/*.cuh)
    list(APPEND cuda_sm90 src/cuda/instructions.cuh src/cuda/sm90/sm90.h src/core/row_sums.h)
    file(GLOB cuda_sm80 RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS src/cuda/sm80/*.cuh)
    list(APPEND cuda_sm80 src/cuda/sm80/sm80.h)
    # Kernels of sm80 come first: they take longest to compile.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/cuda/modules.inc)
    file(STRINGS src/cuda/modules.inc cuda_modules REGEX "^MODULE")
    list(TRANSFORM cuda_modules REPLACE "MODULE.(.*)." "\\1")
    set(cuda_first ${cuda_modules})
    list(FILTER cuda_first INCLUDE REGEX "^sm80")
    list(FILTER cuda_modules EXCLUDE REGEX "^sm80")
    list(PREPEND cuda_modules ${cuda_first})
    foreach(kernels IN LISTS cuda_modules)
        if(kernels MATCHES "^sm90")
            set(kernel_headers ${cuda_sm90})
            set(kernel_code -gencode=arch=compute_90a,code=sm_90a)
        elseif(kernels MATCHES "^sm80")
            set(kernel_headers ${cuda_sm80} ${cuda_core})
            set(kernel_code -gencode=arch=compute_80,code=[sm_80,compute_80])
        else()
            file(GLOB kernel_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
                src/cuda/general/${kernels}_*.cuh)
            list(APPEND kernel_headers ${cuda_core})
            set(kernel_code -gencode=arch=compute_80,code=[sm_90,compute_80])
        endif()
        file(GLOB kernel_file RELATIVE ${PROJECT_SOURCE_DIR} src/cuda/*/${kernels}.cu)
        list(TRANSFORM kernel_headers PREPEND ${PROJECT_SOURCE_DIR}/
            OUTPUT_VARIABLE kernel_sources)
        list(JOIN kernel_sources ":" kernel_sources)
        set(image ${cuda_folder}/${kernels})
        add_custom_command(OUTPUT ${image}.fatbin
            COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/nvcc.sh ${PROJECT_SOURCE_DIR} ${image}
                ${kernel_sources}:${PROJECT_SOURCE_DIR}/${kernel_file}
                ${NVCC} -std=c++17 -O3 -fmad=false -I${PROJECT_SOURCE_DIR}/include
                -I${PROJECT_SOURCE_DIR}/src ${kernel_code} -Xfatbin -compress-all
                -Xptxas -v -fatbin ${PROJECT_SOURCE_DIR}/${kernel_file}
            DEPENDS ${kernel_file} ${kernel_headers} cmake/nvcc.sh
            COMMENT "nvcc ${kernels}.cu" VERBATIM)
        list(APPEND cuda_images ${image}.fatbin)
    endforeach()
    set_source_files_properties(src/cuda/host/images.c PROPERTIES
        COMPILE_DEFINITIONS ATTENDI_IMAGES="${cuda_folder}"
        OBJECT_DEPENDS "${cuda_images}")
else()
    if(NOT ATTEND_CUDA)
        set(no_cuda "ATTEND_CUDA is OFF")
    elseif(NVCC)
        set(no_cuda "the nvcc that was found does not compile for sm_90a")
    else()
        set(no_cuda "nvcc was not found")
    endif()
    list(APPEND library_sources src/cuda/absent/cuda_absent.c)
    set_source_files_properties(src/cuda/absent/cuda_absent.c PROPERTIES
        COMPILE_DEFINITIONS "ATTENDI_NO_CUDA=\"${no_cuda}\"")
endif()
# For tests: the folder with the reports of ptxas, or the reason why there is none.
file(WRITE ${PROJECT_BINARY_DIR}/kernels.txt "${cuda_folder}\n${no_cuda}\n")
