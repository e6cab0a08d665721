"""Compiles packages into a C++ source with marshalled code, for CPython's frozen importer.

Usage: freeze.py OUTPUT ROOT... ; every package directly below a ROOT is taken whole.
"""
import marshal
import pathlib
import sys


def modules(root):
    """(module name, path, is_package) of every source below `root`, in a stable order."""
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        yield ".".join(parts[:-1] if is_package else parts), path, is_package


def main(output, *roots):
    arrays, rows = [], []
    for root in roots:
        for name, path, is_package in modules(pathlib.Path(root)):
            # Tracebacks know cellar's own frames by this file name and leave them out.
            code = compile(path.read_bytes(), f"<frozen {name}>", "exec", dont_inherit=True)
            data = marshal.dumps(code)
            symbol = "k_" + name.replace(".", "_")
            body = ",".join(map(str, data))
            arrays.append(f"const unsigned char {symbol}[] = {{{body}}};")
            rows.append(f'    {{"{name}", {symbol}, {len(data)}, {"true" if is_package else "false"}}},')
    text = "\n".join([
        '// Made by embed/freeze.py.',
        '#include "embed/frozen_modules.h"',
        'namespace cellar::embed {', 'namespace {', *arrays,
        'const FrozenModule kModules[] = {', *rows, '};', '}  // namespace',
        'std::span<const FrozenModule> FrozenModules() { return kModules; }',
        '}  // namespace cellar::embed', ''])
    pathlib.Path(output).write_text(text)


main(*sys.argv[1:])
