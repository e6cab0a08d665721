#include "host/cli/refused_eval.h"

#include <unistd.h>

#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/standard_output.h"
#include "host/console/terminal.h"
#include "host/eval/result_json.h"

namespace cellar::host {

std::string RefusedResult(const std::string& session, const std::string& why) {
  return ResultToJson({.status = CallStatus::kError, .session_id = session, .refusal = why},
                      IsTerminal(STDOUT_FILENO));
}

int RefuseEval(const absl::Status& why, const std::string& session, bool json) {
  const int exit_code = ComplainOf(why);
  if (!json) return exit_code;
  const int lost = WriteOut(RefusedResult(session, std::string(why.message())) + "\n");
  return lost == kExitFine ? exit_code : lost;
}

}  // namespace cellar::host
