// The parts of the schema of results, for front ends that send them one by one while a call runs.
#pragma once

#include <string_view>
#include <vector>

#include "host/eval/json_writer.h"
#include "host/eval/result.h"

namespace cellar::host {

// As in a result: "stdout".
std::string_view OutputTypeName(CellOutput::Type type);

// A MIME bundle as an object: base64 for bytes.
void WriteBundle(const std::vector<wire::MimeEntry>& bundle, JsonWriter& json);

// Keys and values, into an object that is open. Of an output, all but its type.
void WriteOutputFields(const CellOutput& output, JsonWriter& json);
void WriteErrorFields(const CellError& error, JsonWriter& json);
void WriteCellFields(const CellResult& cell, bool with_outputs, JsonWriter& json);

// The object that ResultToJson makes.
void WriteResult(const CallResult& result, JsonWriter& json);

}  // namespace cellar::host
