"""The converter from StableHLO to TFLite, as a process: SOURCE TARGET SIGNATURE INPUT,… OUTPUT,…

It calls the passes of litert-converter directly, without its Python tools, which need an old xdsl.
"""

from __future__ import annotations

import pathlib
import sys


def main(source: str, target: str, signature: str, inputs: str, outputs: str) -> None:
    """Convert the program in one file to a model in another."""
    from litert_converter import converter_api_ext as converter
    from litert_converter import mlir  # makes the modules below importable
    from litert_converter.mlir import ir, passmanager

    assert mlir
    context = ir.Context()
    converter.prepare_mlir_context(context)
    with context:
        module = ir.Module.parse(pathlib.Path(source).read_text())
        converter.set_signature(module.operation, signature, inputs.split(","), outputs.split(","))
        passes = passmanager.PassManager.parse("builtin.module()")
        converter.run_convert_to_tfl_passes(module, passes, converter.ConvertToTFLConfig())
        cleanup = "builtin.module(cse,stablehlo-legalize-vhlo,reconcile-unrealized-casts)"
        passmanager.PassManager.parse(cleanup).run(module.operation)
        pathlib.Path(target).write_bytes(converter.export_flatbuffer_to_bytes(module.operation))


if __name__ == "__main__":
    main(*sys.argv[1:])
