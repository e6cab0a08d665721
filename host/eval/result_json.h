// Writes what became of a call in the one JSON schema in which programs get it; and the parts of
// it, for front ends that send them one by one while a call runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/eval/json_writer.h"
#include "host/eval/result.h"

namespace cellar::host {

// A JSON object, on one line unless `pretty`. Everything that came from the worker is taken for
// untrusted: what is not JSON, or too deep, stands as a string; invalid UTF-8 is replaced.
std::string ResultToJson(const CallResult& result, bool pretty);
// Writes the same object as a value into `json`.
void WriteResult(const CallResult& result, JsonWriter& json);

// The name of a type in a result, as "stdout".
std::string_view OutputTypeName(CellOutput::Type type);

// Writes a MIME bundle as an object, and bytes in it as base64.
void WriteBundle(const std::vector<wire::MimeEntry>& bundle, JsonWriter& json);

// Write keys and values into an object that is open. The type of an output is not among them.
void WriteOutputFields(const CellOutput& output, JsonWriter& json);
void WriteErrorFields(const CellError& error, JsonWriter& json);
void WriteCellFields(const CellResult& cell, bool with_outputs, JsonWriter& json);

}  // namespace cellar::host
