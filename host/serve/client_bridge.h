// The calls that cells make, answered by the clients of a server: each goes to the client whose
// call the cell belongs to, or else to the one that announced itself last. A tool's goes to one
// that has the tool; input is asked of the caller only.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/bridge/provider.h"

namespace cellar::host {

// A client that may answer.
class Answerer {
 public:
  virtual ~Answerer() = default;
  // Whether a call of this client runs on the session that makes that call.
  virtual bool IsCaller(uint64_t call) const = 0;
  virtual void Ask(const BridgeCall& call) = 0;
  virtual void AskForInput(const BridgeCall& call, bool hidden) = 0;
  // Nobody waits for its answer any more.
  virtual void Withdraw(uint64_t call) = 0;
};

class ClientBridge : public BridgeProvider {
 public:
  // What a client offers; replaces what it offered before.
  void Announce(Answerer& client, std::vector<BridgeTool> tools, BridgeBudget budget);
  // Whether it has somebody whom input() can ask.
  void AnnounceInput(Answerer& client, bool offers);
  // The client is gone: what it was asked is answered with an error. False when it offered nothing.
  bool Forget(Answerer& client);
  // False when that client was not asked, or the call is over.
  bool Reply(const Answerer& client, uint64_t call, BridgeAnswer answer);

  void Start(BridgeCall call, BridgeReply reply) override;
  void Cancel(uint64_t call) override;
  std::vector<BridgeTool> tools() override;
  BridgeBudget budget() override;
  bool answers() override { return !offers_.empty(); }
  bool offers_input() override { return !input_clients_.empty(); }

 private:
  struct Offer {
    Answerer* client;
    std::vector<BridgeTool> tools;
    BridgeBudget budget;
  };
  struct Asked {
    Answerer* client;
    BridgeReply reply;
    bool is_input = false;
  };

  void StartInput(const BridgeCall& call, BridgeReply reply);
  // Which of those who offer something is asked; there is one at least.
  Answerer& ClientFor(const BridgeCall& call) const;

  std::list<Offer> offers_;  // the last one first
  std::set<Answerer*> input_clients_;
  std::map<uint64_t, Asked> asked_;
};

}  // namespace cellar::host
