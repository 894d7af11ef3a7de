# SPDX-License-Identifier: MIT
# Installs the documents, CHANGELOG.md and examples/, and a manual page for every
# function.

# Installed documents link to the installed headers.
file(RELATIVE_PATH headers_from_docs ${CMAKE_INSTALL_FULL_DOCDIR}/docs
    ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(GLOB documents CONFIGURE_DEPENDS docs/*.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${documents})
if(has_lab_document)
    list(REMOVE_ITEM documents ${PROJECT_SOURCE_DIR}/docs/LAB.md)
endif()
file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/docs)
foreach(document IN LISTS documents)
    file(READ ${document} text)
    string(REPLACE "](../include/" "](${headers_from_docs}/" text "${text}")
    cmake_path(GET document FILENAME name)
    file(WRITE ${PROJECT_BINARY_DIR}/docs/${name} "${text}")
endforeach()

# manual_links(PAGE HEADER...): a page NAME.3, which shows PAGE.3, for each function that the
# headers declare.
function(manual_links page)
    set(declarations)
    foreach(header IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/attend/${header})
        file(READ include/attend/${header} text)
        string(REPLACE ";" "\n" text "${text}")
        string(REGEX MATCHALL "(ATTEND_API|static inline)[^\n(]*[\n ]+[*]?attend_[a-z0-9_]+[(]"
            found "${text}")
        list(APPEND declarations ${found})
    endforeach()
    foreach(declaration IN LISTS declarations)
        string(REGEX REPLACE ".*[^a-z0-9_](attend_[a-z0-9_]+)[(]$" "\\1" name "${declaration}")
        file(WRITE ${PROJECT_BINARY_DIR}/man3/${name}.3 ".so man3/${page}.3\n")
    endforeach()
endfunction()
file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/man3)
manual_links(attend attend.h stats.h)
manual_links(attend_theory theory.h)
manual_links(attend_layer layer.h)
manual_links(attend_mpi mpi.h mpi_dist.h)

install(DIRECTORY ${PROJECT_BINARY_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/images DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES docs/CUDA-RESULTS.json DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB installed_examples CONFIGURE_DEPENDS examples/*.c examples/*.cpp)
install(FILES ${installed_examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
