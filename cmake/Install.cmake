# SPDX-License-Identifier: MIT
# Installation: libraries, headers, packages for CMake and pkg-config, documents, the command.

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attend)
configure_package_config_file(cmake/attendConfig.cmake.in attendConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(attendConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# The prefix is relative to attend.pc, so that a moved installation works.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
list(TRANSFORM private_libs PREPEND -l OUTPUT_VARIABLE pc_libs_private)
list(JOIN pc_libs_private " " pc_libs_private)
configure_file(cmake/attend.pc.in attend.pc @ONLY)

install(TARGETS attend_shared attend_static EXPORT attendTargets)
foreach(part theory layer)
    if(NOT TARGET attend_${part}_shared)
        continue()
    endif()
    configure_file(cmake/attend_${part}.pc.in attend_${part}.pc @ONLY)
    install(TARGETS attend_${part}_shared attend_${part}_static EXPORT attendTargets)
    install(FILES include/attend/${part}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attend)
    install(FILES ${PROJECT_BINARY_DIR}/attend_${part}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    install(FILES docs/man/attend_${part}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
endforeach()
foreach(abi IN LISTS mpi_abis)
    configure_file(cmake/attend_mpi.pc.in attend_mpi_${abi}.pc @ONLY)
    install(TARGETS attend_mpi_${abi}_shared attend_mpi_${abi}_static EXPORT attendTargets)
    install(FILES ${PROJECT_BINARY_DIR}/attend_mpi_${abi}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
if(mpi_abis)
    install(FILES include/attend/mpi.h include/attend/mpi_dist.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attend)
    install(FILES docs/man/attend_mpi.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
endif()
install(EXPORT attendTargets NAMESPACE attend:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/attendConfig.cmake
    ${PROJECT_BINARY_DIR}/attendConfigVersion.cmake DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/attend.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES include/attend/attend.h include/attend/fields.h include/attend/stats.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attend)
install(FILES docs/man/attend.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
include(cmake/Documents.cmake)
if(ATTEND_TOOL)
    install(TARGETS attend_tool)
    install(FILES ${PROJECT_BINARY_DIR}/attend.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
    # The page, if `make page` has built it.
    install(CODE "
        if(EXISTS \"${PROJECT_SOURCE_DIR}/build/attend.html\")
            file(INSTALL \"${PROJECT_SOURCE_DIR}/build/attend.html\"
                DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/attend\")
        endif()")
    # The command of the autograder, if `make autograder` has built it.
    install(CODE "
        if(EXISTS \"${PROJECT_SOURCE_DIR}/build/attend-grade\")
            file(INSTALL \"${PROJECT_SOURCE_DIR}/build/attend-grade\" USE_SOURCE_PERMISSIONS
                DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/attend\")
        endif()")
    install(FILES tools/completion/attend.bash RENAME attend
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
