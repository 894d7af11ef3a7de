# SPDX-License-Identifier: MIT
# embed(OUT NAME FILE ...): a C file with the text of each FILE as `const char NAME[]`,
# without the comments at its head and the last line break; indented lines are joined to
# the line before.
function(embed out)
    set(code "/* Made by cmake/Embed.cmake. */\n")
    while(ARGN)
        list(POP_FRONT ARGN name file)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        file(READ ${file} text)
        string(REGEX REPLACE "^(/\\*[^\n]*\\*/\n)+" "" text "${text}")
        string(REGEX REPLACE "\n +" "" text "${text}")
        string(REGEX REPLACE "\n$" "" text "${text}")
        string(HEX "${text}" bytes)
        string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
        string(APPEND code "extern const char ${name}[];\nconst char ${name}[] = {\n${bytes}0};\n")
    endwhile()
    file(CONFIGURE OUTPUT ${out} CONTENT "${code}" @ONLY)
endfunction()
