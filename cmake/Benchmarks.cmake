# SPDX-License-Identifier: MIT
# Programs of bench/.

add_executable(accuracy EXCLUDE_FROM_ALL bench/accuracy.c)
target_link_libraries(accuracy PRIVATE attend_flags attend_static)
add_executable(stats_cost EXCLUDE_FROM_ALL bench/stats_cost.c)
target_link_libraries(stats_cost PRIVATE attend_flags attend_static)
if(TARGET laboratory)
    add_executable(monte_carlo EXCLUDE_FROM_ALL bench/monte_carlo.c)
    target_include_directories(monte_carlo PRIVATE src .)
    target_link_libraries(monte_carlo PRIVATE attend_flags laboratory)
    add_executable(merge_speed EXCLUDE_FROM_ALL bench/merge_speed.c
        tools/bench/read_bandwidth.c tools/bench/samples.c tools/bench/team.c
        tools/shared/stopwatch.c)
    target_include_directories(merge_speed PRIVATE tools src .)
    target_link_libraries(merge_speed PRIVATE attend_flags laboratory)
endif()
