// A directory that lives as long as the test, and the fake Pythons that tests put into it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::host {

// An ELF magic and nothing behind it: looks like a program, and fails when it is run. A Python made
// of it is adopted only by code that runs nothing.
inline constexpr char kUnrunnableProgram[] = "\177ELF";

class Scratch : public testing::Test {
 protected:
  std::string Path(const std::string& relative) const { return root_ / relative; }

  std::string Write(const std::string& relative, const std::string& text) const {
    std::filesystem::create_directories((root_ / relative).parent_path());
    std::ofstream(root_ / relative, std::ios::binary) << text;
    return Path(relative);
  }

  std::string WriteProgram(const std::string& relative, const std::string& text) const {
    Write(relative, text);
    std::filesystem::permissions(Path(relative), std::filesystem::perms::owner_all);
    return Path(relative);
  }

  std::string Link(const std::string& relative, const std::string& target) const {
    std::filesystem::create_directories((root_ / relative).parent_path());
    std::filesystem::create_symlink(target, root_ / relative);
    return Path(relative);
  }

  // bin/python3.<minor> with its two links, and a standard library.
  std::string MakeInstallation(const std::string& relative, const std::string& minor) const {
    WriteProgram(relative + "/bin/python" + minor, kUnrunnableProgram);
    Link(relative + "/bin/python3", "python" + minor);
    Link(relative + "/bin/python", "python3");
    Write(relative + "/lib/python" + minor + "/os.py", "");
    Write(relative + "/lib/python" + minor + "/site-packages/README.txt", "");
    return Path(relative);
  }

  std::string AddSharedLibrary(const std::string& relative, const std::string& minor) const {
    return Write(relative + "/lib/libpython" + minor + ".so.1.0", "");
  }

  // What `<base>/bin/python -m venv` makes.
  std::string MakeVenv(const std::string& relative, const std::string& base,
                       const std::string& version) const {
    const std::string minor = version.substr(0, version.rfind('.'));
    Link(relative + "/bin/python", base + "/bin/python3");
    Write(relative + "/lib/python" + minor + "/site-packages/README.txt", "");
    Write(relative + "/pyvenv.cfg", "home = " + base + "/bin\nversion = " + version + "\n");
    return Path(relative);
  }

 private:
  const ScratchDirectory root_;
};

}  // namespace cellar::host
