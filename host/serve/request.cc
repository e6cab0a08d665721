#include "host/serve/request.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "host/base/json_text.h"
#include "host/base/status.h"
#include "host/eval/call_parser.h"
#include "host/eval/strict_json.h"
#include "host/serve/field_reader.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

constexpr size_t kMaxIdBytes = 256;
constexpr size_t kMaxQueryBytes = size_t{1} << 20;
// A tool may answer with anything.
constexpr size_t kMaxDepth = 100;

using What = decltype(Request::what);

absl::StatusOr<What> ReadEval(json& request) {
  FieldReader fields(request);
  EvalRequest eval = {.stream = fields.Flag("stream", true)};
  const std::string by = fields.Name("by");
  const std::string interpreter = fields.Text("interpreter");
  SessionOpening opening = fields.Opening();
  CELLAR_RETURN_IF_ERROR(fields.problem());
  CELLAR_ASSIGN_OR_RETURN(eval.call, CallFromJson(request, fields.known()));
  if (!by.empty()) eval.call.by = by;
  eval.call.interpreter = interpreter;
  eval.call.opening = std::move(opening);
  return eval;
}

// {"id", "code", "cwd", "env"}; the runner of old was also sent fields that it made nothing of. It
// had no time-out of its own, and one namespace whatever the directory.
absl::StatusOr<What> ReadBare(const json& request) {
  json cell = {{"timeout", 0}};
  json call = {{"cells", json::array()}};
  for (const auto& [name, value] : request.items()) {
    if (name == "code") cell["code"] = value;
    if (name == "cwd" || name == "env") call[name] = value;
  }
  const json& code = cell["code"];
  // A model's empty cell is a mistake, a program's is not.
  const bool is_blank = code.is_string() && code.get_ref<const std::string&>().find_first_not_of(
                                                " \t\r\n\f") == std::string::npos;
  if (is_blank) cell["code"] = "pass";
  call["cells"].push_back(std::move(cell));
  EvalRequest eval = {.is_bare = true};
  absl::StatusOr<Call> read = CallFromJson(call);
  if (!read.ok()) {
    // Its client has not written any `cells`.
    eval.refused = absl::Status(read.status().code(),
                                absl::StrReplaceAll(read.status().message(), {{"cells[0].", ""}}));
    return eval;
  }
  eval.call = *std::move(read);
  eval.call.enter = std::exchange(eval.call.cwd, "");
  return eval;
}

absl::StatusOr<What> ReadCancel(json& request) {
  FieldReader fields(request);
  const json call = fields.Value("call");
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  if (call.is_null()) return absl::InvalidArgumentError("call: is missing");
  if (!call.is_string() && !call.is_number_integer()) {
    return absl::InvalidArgumentError("call: expected the id of an eval, or a handle");
  }
  CancelRequest cancel = {.call = {.json = JsonText(call)}};
  if (call.is_string()) cancel.handle = call.get<std::string>();
  return cancel;
}

template <typename OfSession>
absl::StatusOr<What> ReadOfSession(json& request) {
  FieldReader fields(request);
  OfSession what = {.session = fields.Name("session")};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return what;
}

absl::StatusOr<What> ReadRewind(json& request) {
  FieldReader fields(request);
  RewindRequest rewind = {.session = fields.Name("session"), .cell = fields.Number("cell")};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return rewind;
}

absl::StatusOr<What> ReadBranch(json& request) {
  FieldReader fields(request);
  BranchRequest branch = {.session = fields.Name("session"),
                          .new_session = fields.Name("new_session", /*required=*/true),
                          .cell = fields.Number("cell")};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return branch;
}

absl::StatusOr<What> ReadWatch(json& request) {
  FieldReader fields(request);
  WatchRequest watch = {.session = fields.Name("session"), .opening = fields.Opening()};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return watch;
}

absl::StatusOr<What> ReadWait(json& request) {
  FieldReader fields(request);
  WaitRequest wait;
  wait.handle = fields.Text("call", /*required=*/true);
  wait.limit = fields.Seconds("limit", wait.limit);
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return wait;
}

absl::StatusOr<What> ReadTail(json& request) {
  FieldReader fields(request);
  TailRequest tail = {.handle = fields.Text("call", /*required=*/true)};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return tail;
}

template <wire::QueryKind kind>
absl::StatusOr<What> ReadQuery(json& request) {
  FieldReader fields(request);
  QueryRequest what = {.session = fields.Name("session")};
  what.query.kind = kind;
  what.query.text = fields.Text("text", /*required=*/true, kMaxQueryBytes);
  what.query.cursor = fields.Number("cursor").value_or(std::numeric_limits<uint32_t>::max());
  what.query.with_source = kind == wire::QueryKind::kInspect && fields.Flag("source", false);
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return what;
}

absl::StatusOr<What> ReadHello(json& request) {
  FieldReader fields(request);
  HelloRequest hello = {.input = fields.Flag("input", false)};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return hello;
}

absl::Status ReadTool(json value, BridgeTool& tool) {
  if (!value.is_object()) return absl::InvalidArgumentError("expected an object");
  FieldReader fields(value, /*known=*/{});
  tool.name = fields.Text("name", /*required=*/true);
  tool.description = fields.Text("description", /*required=*/false, kMaxQueryBytes);
  const json schema = fields.Value("schema");
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  // Names with a dollar are calls of cellar's own.
  if (tool.name.empty() || tool.name.starts_with('$')) {
    return absl::InvalidArgumentError("name: expected one that is not empty and has no $ in front");
  }
  if (schema.is_null()) return absl::OkStatus();
  if (!schema.is_object()) return absl::InvalidArgumentError("schema: expected an object");
  tool.schema = JsonText(schema);
  return absl::OkStatus();
}

absl::Status ReadBudget(json value, BridgeBudget& budget) {
  if (!value.is_object()) return absl::InvalidArgumentError("budget: expected an object");
  for (const auto& [name, field] : value.items()) {
    if (name == "total" && field.is_number()) {
      budget.total = field.get<double>();
    } else if (name == "spent" && field.is_number()) {
      budget.spent = field.get<double>();
    } else if (name == "hard" && field.is_boolean()) {
      budget.hard = field.get<bool>();
    } else if (name != "total" || !field.is_null()) {
      return absl::InvalidArgumentError(
          "budget: expected total and spent, which are numbers, and hard, true or false");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<What> ReadTools(json& request) {
  FieldReader fields(request);
  const json tools = fields.Value("tools");
  json budget = fields.Value("budget");
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  ToolsRequest what;
  if (!tools.is_array()) return absl::InvalidArgumentError("tools: expected a list");
  for (size_t i = 0; i < tools.size(); ++i) {
    if (absl::Status status = ReadTool(tools[i], what.tools.emplace_back()); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("tools[", i, "]: ", status.message()));
    }
  }
  if (!budget.is_null()) CELLAR_RETURN_IF_ERROR(ReadBudget(std::move(budget), what.budget));
  return what;
}

absl::Status ReadImages(const json& images, BridgeAnswer& answer) {
  if (!images.is_array()) return absl::InvalidArgumentError("images: expected a list");
  for (json image : images) {
    if (!image.is_object()) return absl::InvalidArgumentError("images: expected objects");
    FieldReader fields(image, /*known=*/{});
    BridgeImage& read = answer.images.emplace_back();
    read.mime = fields.Text("mime", /*required=*/true);
    const std::string data = fields.Text("data", /*required=*/true, kMaxLineBytes);
    CELLAR_RETURN_IF_ERROR(fields.Finish());
    if (!absl::Base64Unescape(data, &read.data)) {
      return absl::InvalidArgumentError("images: expected data as base64");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<What> ReadReply(json& request) {
  FieldReader fields(request);
  const json call = fields.Value("call");
  ReplyRequest what = {.answer = {.value = JsonText(fields.Value("value"))}};
  const json images = fields.Value("images");
  const json error = fields.Value("error");
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  if (!call.is_number_unsigned()) {
    return absl::InvalidArgumentError("call: expected the number in the call or input frame");
  }
  what.call = call.get<uint64_t>();
  if (!images.is_null()) CELLAR_RETURN_IF_ERROR(ReadImages(images, what.answer));
  if (error.is_null()) return what;
  if (!error.is_string()) return absl::InvalidArgumentError("error: expected a string");
  what.answer.error = error.get<std::string>();
  return what;
}

template <typename Plain>
absl::StatusOr<What> ReadPlain(json& request) {
  CELLAR_RETURN_IF_ERROR(FieldReader(request).Finish());
  return Plain{};
}

template <auto read>
absl::StatusOr<What> ReadNotebook(json& request) {
  CELLAR_ASSIGN_OR_RETURN(auto what, read(request));
  return what;
}

struct RequestType {
  std::string_view name;
  absl::StatusOr<What> (*read)(json& request);
};

constexpr RequestType kRequestTypes[] = {
    {"eval", ReadEval},
    {"cancel", ReadCancel},
    {"reset", ReadOfSession<ResetRequest>},
    {"interrupt", ReadOfSession<InterruptRequest>},
    {"rewind", ReadRewind},
    {"branch", ReadBranch},
    {"close", ReadOfSession<CloseRequest>},
    {"sessions", ReadPlain<SessionsRequest>},
    {"watch", ReadWatch},
    {"wait", ReadWait},
    {"tail", ReadTail},
    {"complete", ReadQuery<wire::QueryKind::kComplete>},
    {"inspect", ReadQuery<wire::QueryKind::kInspect>},
    {"is_complete", ReadQuery<wire::QueryKind::kIsComplete>},
    {"hello", ReadHello},
    {"tools", ReadTools},
    {"reply", ReadReply},
    {"notebook.show", ReadNotebook<ReadNotebookShow>},
    {"notebook.apply", ReadNotebook<ReadNotebookApply>},
    {"notebook.edit", ReadNotebook<ReadNotebookEdit>},
    {"notebook.insert", ReadNotebook<ReadNotebookInsert>},
    {"notebook.delete", ReadNotebook<ReadNotebookDelete>},
    {"notebook.new", ReadNotebook<ReadNotebookNew>},
    {"notebook.clear", ReadNotebook<ReadNotebookClear>},
    {"notebook.convert", ReadNotebook<ReadNotebookConvert>},
    {"notebook.run", ReadNotebook<ReadNotebookRun>},
    {"exit", ReadPlain<ExitRequest>},
    {"shutdown", ReadPlain<ShutdownRequest>},
    {"handover", ReadPlain<HandoverRequest>},
};

absl::Status ReadId(json& request, RequestId& id) {
  auto found = request.find("id");
  if (found == request.end()) return absl::InvalidArgumentError("id: is missing");
  if (!found->is_string() && !found->is_number_integer()) {
    return absl::InvalidArgumentError("id: expected a string or a whole number");
  }
  if (*found == "") return absl::InvalidArgumentError("id: is empty");
  if (found->is_string() && found->get_ref<const std::string&>().size() > kMaxIdBytes) {
    return absl::InvalidArgumentError(absl::StrCat("id: longer than ", kMaxIdBytes, " bytes"));
  }
  id.json = JsonText(*found);
  request.erase(found);
  return absl::OkStatus();
}

absl::StatusOr<What> ReadTyped(json& request) {
  const json type = request["type"];
  request.erase("type");
  for (const RequestType& known : kRequestTypes) {
    if (type == known.name) return known.read(request);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "type: expected one of ",
      absl::StrJoin(kRequestTypes, ", ",
                    [](std::string* text, const RequestType& known) { *text += known.name; })));
}

bool IsReply(const json& request) { return request.value("type", json()) == "reply"; }

// A cell waits for the answer that cannot be read, and learns why there is none.
absl::StatusOr<What> FailedReply(const json& call, const absl::Status& problem) {
  if (!call.is_number_unsigned()) return problem;
  return ReplyRequest{
      .call = call.get<uint64_t>(),
      .answer = {.error = absl::StrCat("its answer cannot be read: ", problem.message())}};
}

absl::StatusOr<What> ReadUnparsable(std::string_view line, const absl::Status& problem,
                                    RequestId& id) {
  json fields = ReadableFields(line);
  if (IsReply(fields)) return FailedReply(fields["call"], problem);
  (void)ReadId(fields, id);
  return problem;
}

absl::StatusOr<What> ReadRequest(json request, RequestId& id) {
  if (!request.is_object()) return absl::InvalidArgumentError("request: expected an object");
  // The runner of old is told to exit without an id.
  if (request == json{{"type", "exit"}}) return ExitRequest{};
  // An answer needs no answer.
  if (IsReply(request)) {
    const json call = request.value("call", json());
    request.erase("id");
    absl::StatusOr<What> reply = ReadTyped(request);
    return reply.ok() ? reply : FailedReply(call, reply.status());
  }
  CELLAR_RETURN_IF_ERROR(ReadId(request, id));
  if (request.contains("type")) return ReadTyped(request);
  if (request.contains("code")) return ReadBare(request);
  return absl::InvalidArgumentError("type: is missing, and so is the code of a bare request");
}

}  // namespace

std::vector<std::string_view> RequestNames() {
  std::vector<std::string_view> names;
  for (const RequestType& type : kRequestTypes) names.push_back(type.name);
  return names;
}

absl::StatusOr<Request> ParseRequest(std::string_view line, RequestId& id) {
  absl::StatusOr<json> request = ParseStrictJson(line, kMaxLineBytes, kMaxDepth);
  absl::StatusOr<What> what = request.ok() ? ReadRequest(*std::move(request), id)
                                           : ReadUnparsable(line, request.status(), id);
  if (!what.ok()) return what.status();
  return Request{.id = id, .what = *std::move(what)};
}

}  // namespace cellar::host
