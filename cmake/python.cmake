# The worker embeds the system's Python (python3-dev), never another one that happens to be first on PATH.
set(Python3_FIND_STRATEGY LOCATION)
set(Python3_ROOT_DIR /usr)
set(Python3_EXECUTABLE /usr/bin/python3)
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Embed)
set(PYBIND11_NOPYTHON ON)
find_package(pybind11 2.10 REQUIRED)
set(CELLAR_PYTHON_MINOR "${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}")
message(STATUS "cellar: worker embeds Python ${Python3_VERSION} (${Python3_LIBRARIES})")
