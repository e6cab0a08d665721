// A notebook whose cells get their outputs, one by one. Holds the bytes it began with and the new
// text of the cells that have run; everything else stays byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "host/execute/cell_recorder.h"
#include "notebook/document.h"
#include "notebook/style.h"

namespace cellar::host {

struct CellRecord {
  uint32_t execution_count = 0;  // 0: the cell has not ended
  absl::Time started;
  absl::Time ended;
  std::vector<RecordedOutput> outputs;
};

class ExecutedDocument {
 public:
  explicit ExecutedDocument(notebook::Document document);

  const notebook::Document& document() const { return document_; }

  // Gives the cell these outputs, count and times. What would make the file larger than a notebook
  // may be is left out, and a note says so.
  void Put(size_t cell, const CellRecord& record);

  // The whole file as it stands. As costly as the file is large.
  std::string Bytes() const;

 private:
  std::string Write(size_t cell, const CellRecord& record) const;

  notebook::Document document_;
  notebook::Style style_;
  std::map<size_t, std::string> texts_;  // of the cells that have run
  size_t size_;                          // of Bytes()
};

}  // namespace cellar::host
