#include "host/eval/describe.h"

#include <span>
#include <string_view>
#include <variant>

#include "host/eval/call_fields.h"
#include "host/eval/json_writer.h"

namespace cellar::host {
namespace {

constexpr std::string_view kDescription =
    "Runs Python cells in a session whose variables last from call to call.\n"
    "- Cells run in order in one namespace; the first that fails stops the call, and what the "
    "earlier ones defined stays. Put steps that may fail in cells of their own.\n"
    "- The result shows what was printed, what display() was given, and the value of a last bare "
    "expression. Long output is shortened; the mark in its place names the file that has all.\n"
    "- Top-level await works. Tasks go on between calls; what they print comes with the next "
    "result.\n"
    "- Without an import there are read, write, append, tree, diff, env, output, parallel, "
    "pipeline, "
    "tool, llm, agent, budget, log and phase; help(name) describes one. !command, %pip and other "
    "magics work.\n"
    "- Nothing can be typed: input() fails.\n"
    "- A cell that takes too long without a log() or phase() is interrupted; the result says "
    "whether "
    "the variables are still there.\n";

std::string_view AdviceFor(ToolMode mode) {
  switch (mode) {
    case ToolMode::kBoth:
      return "- For single shell commands use the shell tool.\n";
    case ToolMode::kIpyOnly:
      return "- There is no shell tool: start programs with !command or %%bash.\n";
    case ToolMode::kBashOnly:
      return "- Not offered now: the tool mode is bash-only.\n";
  }
  return "";
}

// The members of a field's schema, by its kind.
class SchemaWriter {
 public:
  // `left_out` is a field that is not told of; or empty.
  SchemaWriter(JsonWriter& json, std::string_view left_out) : json_(json), left_out_(left_out) {}

  template <typename Owner>
  void Write(std::span<const Field<Owner>> fields) {
    json_.Key("type").String("object");
    json_.Key("properties").BeginObject();
    for (const Field<Owner>& field : fields) {
      if (field.use == FieldUse::kForPrograms || field.name == left_out_) continue;
      json_.Key(field.name).BeginObject();
      json_.Key("description").String(field.description);
      if (field.use == FieldUse::kOlderShape) json_.Key("deprecated").Bool(true);
      std::visit([this](const auto& kind) { this->WriteKind(kind); }, field.kind);
      json_.EndObject();
    }
    json_.EndObject();
    json_.Key("required").BeginArray();
    for (const Field<Owner>& field : fields) {
      if (field.use == FieldUse::kRequired) json_.String(field.name);
    }
    json_.EndArray();
    json_.Key("additionalProperties").Bool(false);
  }

 private:
  template <typename Owner>
  void WriteKind(const TextField<Owner>&) {
    json_.Key("type").String("string");
  }

  template <typename Owner>
  void WriteKind(const ChoiceField<Owner>& field) {
    json_.Key("type").String("string").Key("enum").BeginArray();
    for (std::string_view choice : field.choices) json_.String(choice);
    json_.EndArray();
  }

  template <typename Owner>
  void WriteKind(const FlagField<Owner>&) {
    json_.Key("type").String("boolean");
  }

  template <typename Owner>
  void WriteKind(const TimeoutField<Owner>&) {
    json_.Key("type").String("number").Key("minimum").Number(0).Key("maximum").Number(kMaxTimeout);
  }

  template <typename Owner>
  void WriteKind(const SecondsField<Owner>&) {
    json_.Key("type").String("number").Key("minimum").Number(0);
    json_.Key("maximum").Number(kMaxBackgroundAfter);
  }

  template <typename Owner>
  void WriteKind(const VariablesField<Owner>&) {
    json_.Key("type").String("object").Key("additionalProperties").BeginObject();
    json_.Key("type").BeginArray().String("string").String("null").EndArray();
    json_.EndObject();
  }

  template <typename Owner>
  void WriteKind(const CellsField<Owner>&) {
    json_.Key("type").String("array");
    json_.Key("minItems").Number(1).Key("maxItems").Number(kMaxCells);
    json_.Key("items").BeginObject();
    Write(CellFields());
    json_.EndObject();
  }

  JsonWriter& json_;
  const std::string_view left_out_;
};

}  // namespace

std::string DescribeTool(ToolMode mode, std::string_view reason, bool names_session) {
  const absl::string_view mode_name = ToolModeName(mode);
  std::string description(kDescription);
  description += AdviceFor(mode);
  JsonWriter json(/*pretty=*/true);
  json.BeginObject();
  json.Key("name").String("eval");
  json.Key("tool_mode").String({mode_name.data(), mode_name.size()});
  json.Key("offered").Bool(mode != ToolMode::kBashOnly);
  if (!reason.empty()) json.Key("reason").String(reason);
  json.Key("description").String(description);
  json.Key("input_schema").BeginObject();
  SchemaWriter(json, names_session ? "session" : "").Write(CallFields());
  json.EndObject();
  json.EndObject();
  return json.Take();
}

}  // namespace cellar::host
