// The calls of one client that are under way, by the ids that it gave them: evals, and notebooks
// that run.
//
// Lives on the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "host/eval/call_service.h"
#include "host/serve/call_stream.h"
#include "host/serve/request.h"
#include "host/serve/room.h"

namespace cellar::host {

class NotebookJob;

class ClientCalls {
 public:
  struct Running {
    RequestId id;
    std::unique_ptr<CallStream> stream;
    size_t bytes = 0;                 // of the request
    CallId call = 0;                  // of an eval; else 0
    NotebookJob* notebook = nullptr;  // the one that runs; else null
  };

  // What it borrows outlives it.
  ClientCalls(CallService& service, Room& room) : service_(service), room_(room) {}
  // As GiveUp.
  ~ClientCalls() { GiveUp(); }
  ClientCalls(const ClientCalls&) = delete;

  // Room for the request's bytes is taken until it is over. No call of that id may be under way.
  // The caller sets what runs.
  Running& Add(const RequestId& id, std::unique_ptr<CallStream> stream, size_t bytes);
  // It is over. Returns its stream, for the last frames; null when it was given up before.
  std::unique_ptr<CallStream> Remove(const RequestId& id);

  // False when there is none of that id, or it is over.
  bool Cancel(const RequestId& id);
  void CancelAll();
  // The client is gone: all are cancelled, and nobody hears of them any more.
  void GiveUp();

  bool Has(const RequestId& id) const { return calls_.contains(id); }
  bool Has(const std::string& handle) const;
  // The one whose cell has made that call to the host (BridgeCall::id); null when it is another's.
  const Running* CallerOf(uint64_t bridge_call) const;

 private:
  bool Cancel(const Running& running);

  CallService& service_;
  Room& room_;
  std::map<RequestId, Running> calls_;
};

}  // namespace cellar::host
