// The text that readline edits, seen as a block of lines: what keys do in it where readline itself
// knows only one line.
#pragma once

#include <string_view>

namespace cellar::host {

// All of it; valid until the next change.
std::string_view EditedText();

// Only white space stands between the start of the line and the cursor.
bool InIndentation();

// To the same column of the line above or below. False when there is none.
bool MoveUp();
bool MoveDown();

// To the border of the line; from there to that of the block.
void MoveToStart();
void MoveToEnd();

// Up to the border of the line, into the kill ring. At its end the newline itself.
void KillToStart();
void KillToEnd();

// A new line, indented as the text before it asks for.
void BreakLine();
// To the next column where indentation stands.
void Indent();
// Takes one step of indentation from the start of the line.
void Outdent();
// Removes the spaces before the cursor back to the step before. False when it is not at the end of
// indentation.
bool RuboutIndentation();

}  // namespace cellar::host
