// Tells callbacks that may outlive an object whether it is still there:
//
//   loop_.Post([this, alive = lifeline_.watch()] {
//     if (*alive) GoOn();
//   });
//
// Looked at only on the thread that destroys the object. A destructor that may be called back while
// it runs cuts the line first.
#pragma once

#include <memory>

namespace cellar {

class Lifeline {
 public:
  Lifeline() = default;
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;
  ~Lifeline() { Cut(); }

  // False once the object is gone.
  std::shared_ptr<const bool> watch() const { return alive_; }
  void Cut() { *alive_ = false; }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cellar
