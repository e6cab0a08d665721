#include "host/runtime/worker_program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/scratch.h"

namespace cellar::host {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class WorkerProgramTest : public Scratch {
 protected:
  // A minor version that is installed nowhere, so that the compiled-in path never matches.
  WorkerProgramQuery Query() {
    return {.executable_directory = Path("prefix/bin"), .python_minor = "3.0"};
  }
};

TEST_F(WorkerProgramTest, IsFoundInLibexecBeforeBesideTheProgram) {
  WriteProgram("prefix/bin/cellar-worker-3.0", "");
  EXPECT_EQ(*FindWorkerProgram(Query()), Path("prefix/bin/cellar-worker-3.0"));
  WriteProgram("prefix/libexec/cellar/cellar-worker-3.0", "");
  EXPECT_EQ(*FindWorkerProgram(Query()), Path("prefix/libexec/cellar/cellar-worker-3.0"));
}

TEST_F(WorkerProgramTest, IsTheOneGiven) {
  WriteProgram("prefix/bin/cellar-worker-3.0", "");
  WorkerProgramQuery query = Query();
  query.env["CELLAR_WORKER"] = WriteProgram("from-env", "");
  EXPECT_EQ(*FindWorkerProgram(query), Path("from-env"));
  query.explicit_path = WriteProgram("explicit", "");
  EXPECT_EQ(*FindWorkerProgram(query), Path("explicit"));
}

TEST_F(WorkerProgramTest, IsNeverAnotherThanTheOneGiven) {
  WriteProgram("prefix/bin/cellar-worker-3.0", "");
  WorkerProgramQuery query = Query();
  query.env["CELLAR_WORKER"] = Path("missing");
  absl::Status status = FindWorkerProgram(query).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "worker program given by CELLAR_WORKER: " + Path("missing") +
                                  ": No such file or directory");
}

TEST_F(WorkerProgramTest, IsAFile) {
  WorkerProgramQuery query = Query();
  query.explicit_path = Path("");
  EXPECT_EQ(FindWorkerProgram(query).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(WorkerProgramTest, MustBeExecutable) {
  Write("prefix/bin/cellar-worker-3.0", "");
  EXPECT_EQ(FindWorkerProgram(Query()).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(WorkerProgramTest, ListsWhatWasTried) {
  absl::Status status = FindWorkerProgram(Query()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(Path("prefix/libexec/cellar/cellar-worker-3.0")),
                    HasSubstr(Path("prefix/bin/cellar-worker-3.0")), HasSubstr("CELLAR_WORKER")));
}

TEST(BuiltInPythonTest, IsNamedByItsMinorVersion) {
  EXPECT_THAT(BuiltInPython().executable, EndsWith("/python" + BuiltInPython().minor));
  EXPECT_THAT(BuiltInPython().minor, StartsWith("3."));
}

TEST(ExecutableDirectoryTest, IsWhereThisTestLies) {
  EXPECT_TRUE(std::filesystem::exists(ExecutableDirectory() + "/runtime_worker_program_test"));
}

}  // namespace
}  // namespace cellar::host
