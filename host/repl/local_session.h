// The sessions of a prompt that has a host of its own: one, and its branches.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "host/console/console.h"
#include "host/repl/prompt_session.h"

namespace cellar::host {

class LocalSession : public PromptSession {
 public:
  // The console outlives it.
  explicit LocalSession(Console& console) : console_(console) {}
  ~LocalSession() override;

  void Start(PromptSessionListener& listener, StatusCallback ready) override;
  void Leave(absl::AnyInvocable<void()> done) override;
  std::string name() const override { return current_; }
  std::string history() const override { return ""; }
  bool is_nameless() const override { return current_ == kMain; }
  uint32_t next_cell() const override { return session().next_cell(); }
  void Run(std::string code, StatusCallback done) override;
  bool busy() const override { return session().busy(); }
  void Interrupt() override { session().Interrupt(); }
  std::string running_by() const override { return ""; }
  void InterruptOther() override {}
  size_t others_since(uint32_t) const override { return 0; }
  void Complete(std::string text, uint32_t cursor, QueryCallback done) override;
  void Reset(StatusCallback done) override { session().Reset(std::move(done)); }
  void Rewind(uint32_t cell, StandingCallback done) override;
  void Branch(const std::string& name, StandingCallback done) override;
  void Switch(const std::string& name, StatusCallback done) override;
  void List(ListCallback done) override;

 private:
  // What the console's session is called.
  static constexpr char kMain[] = "main";

  Session& session() const;
  std::vector<Session*> all() const;
  void CloseNext();
  // For a cell to come with: COLUMNS, as the terminal is, if the session does not have it so. Only
  // here, where nobody else's terminal shows what the cells print.
  std::vector<wire::EnvironmentEntry> NewWidth();

  Console& console_;
  PromptSessionListener* listener_ = nullptr;
  std::map<std::string, std::unique_ptr<Session>> branches_;
  std::string current_ = kMain;
  std::map<std::string, int> columns_told_;  // by the session's name
  std::vector<Session*> open_;               // that are to be closed, to leave
  absl::AnyInvocable<void()> on_left_;
};

}  // namespace cellar::host
