# SPDX-License-Identifier: MIT
# attend_library() and attend_links(): installed libraries, static and shared.

# attend_library(NAME SOURCE...): an installed library, NAME_shared and NAME_static; its files
# are compiled once, position independent, for both.  Other projects see attend::NAME and
# attend::NAME_static.  (The command has the file name `attend`, which Ninja takes for a target.)
function(attend_library name)
    add_library(${name}_objects OBJECT ${ARGN})
    set_target_properties(${name}_objects PROPERTIES
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_compile_definitions(${name}_objects PRIVATE ATTEND_BUILD)
    target_include_directories(${name}_objects PRIVATE include src)
    target_link_libraries(${name}_objects PRIVATE attend_flags)
    add_library(${name}_static STATIC $<TARGET_OBJECTS:${name}_objects>)
    add_library(attend::${name}_static ALIAS ${name}_static)
    set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name})
    set(libraries ${name}_static)
    # WebAssembly has none.
    get_property(has_shared GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS)
    if(has_shared)
        add_library(${name}_shared SHARED $<TARGET_OBJECTS:${name}_objects>)
        add_library(attend::${name} ALIAS ${name}_shared)
        set_target_properties(${name}_shared PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${name}
            VERSION ${PROJECT_VERSION} SOVERSION ${abi_version})
        target_link_libraries(${name}_shared PRIVATE $<BUILD_INTERFACE:attend_flags>)
        list(APPEND libraries ${name}_shared)
    endif()
    foreach(library IN LISTS libraries)
        target_include_directories(${library} INTERFACE
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    endforeach()
endfunction()

# attend_links(NAME_shared SCOPE LIBRARY...): where there are shared libraries.
function(attend_links library)
    if(TARGET ${library})
        target_link_libraries(${library} ${ARGN})
    endif()
endfunction()
