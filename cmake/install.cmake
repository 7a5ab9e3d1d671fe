# What `cmake --install` puts where, and the packages made of it.
include(GNUInstallDirs)

install(TARGETS tarn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tarn_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tarn_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tarn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The prefix is found from where tarn.pc lies, so a tree may be moved.
file(RELATIVE_PATH TARN_PC_UP /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig /usr)
string(REGEX REPLACE "/$" "" TARN_PC_UP ${TARN_PC_UP})
configure_file(cmake/tarn.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tarn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tarn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Manual pages and completions are printed by the command itself, one page a command. A command that
# was built for another machine cannot run here: then its pages are left out.
if(NOT CMAKE_CROSSCOMPILING)
  file(READ src/cli/commands.c table)
  string(REGEX MATCHALL "&cmd_[a-z]+" names "${table}")
  set(pages ${CMAKE_CURRENT_BINARY_DIR}/man/tarn.1)
  set(words "")
  foreach(name ${names})
    string(REPLACE "&cmd_" "" verb ${name})
    list(APPEND words ${verb})
    list(APPEND pages ${CMAKE_CURRENT_BINARY_DIR}/man/tarn-${verb}.1)
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/cli/commands.c)
  set(completions ${CMAKE_CURRENT_BINARY_DIR}/completions)
  add_custom_command(
    OUTPUT ${pages} ${completions}/tarn ${completions}/_tarn ${completions}/tarn.fish
    COMMAND ${CMAKE_COMMAND} -DTARN=$<TARGET_FILE:tarn> "-DVERBS=${words}" -DMAN=${CMAKE_CURRENT_BINARY_DIR}/man
            -DCOMPLETIONS=${completions} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/pages.cmake
    DEPENDS tarn cmake/pages.cmake
    VERBATIM)
  add_custom_target(tarn_pages ALL DEPENDS ${pages})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completions}/tarn DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/_tarn DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completions}/tarn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

set(CPACK_GENERATOR TGZ)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME tarn)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGE_VENDOR tarn)
set(CPACK_PACKAGE_CONTACT "The tarn authors <tarn@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keeps directories of Parquet files free of small ones")
set(CPACK_PACKAGE_DESCRIPTION "tarn diagnoses directories of many small Parquet files and merges them safely.
 It holds the command, the library with its headers, and manual pages.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
include(CPack)
