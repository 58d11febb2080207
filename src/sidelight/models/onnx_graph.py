"""A model as an ONNX graph: linear scores of features passed by number, then the best labels.

    features [T, F] int64, values [T, F]: the numbers and values of each token's features; a row that has
    fewer is filled up with the number A (one more than the last feature), whatever its value
    dense [T, D]: dense rows, of models that have them
    labels [T] int64: places in the list "labels" of the metadata; scores [T, L]: of each label at each token

The rows are the tokens of one sentence, and the labels are its best path (Viterbi, as two Scans). For classes, each row
is an input. Everything is in double precision, as in training, so that labels are those of `predict`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.errors import DataError
from sidelight.features.attributes.attributes import AttributeExtractor
from sidelight.models.export import chain_weights, dense_weights, emission_weights, label_texts, plain_structure
from sidelight.models.model import Model, model_of

OPSET = 17
LARGEST = 2**31 - 2**20  # bytes: ONNX files must be smaller than 2 GiB


def onnx_bytes(model: Model) -> bytes:
    """The file of a model; raises `DataError` for models that cannot be exported, and if onnx is not installed."""
    try:
        import onnx
        from onnx import TensorProto, helper
    except ModuleNotFoundError:
        raise DataError("this needs onnx, which is not installed", remedy='pip install "sidelight[onnx]"') from None
    structure = plain_structure(model)
    sparse, dense = emission_weights(model), dense_weights(model)
    if sparse.nbytes + dense.nbytes > LARGEST:
        problem = f"{len(sparse):,} features of {sparse.shape[1]} labels are too many for a file of ONNX"
        raise DataError(problem, remedy="train with a higher min_count, or learner crf with l1=…")
    graph = _Graph()
    scores = _emissions(graph, sparse, dense)
    start, transition, end = chain_weights(model)
    if structure.sequences:
        _best_path(graph, scores, start, transition, end)
    else:
        scores = graph.add("Add", scores, graph.constant("bias", start), name="scores")
        graph.add("ArgMax", scores, axis=1, keepdims=0, name="labels")
    graph.output("labels", TensorProto.INT64, ["T"])
    graph.output("scores", TensorProto.DOUBLE, ["T", len(start)])
    proto = helper.make_model(
        graph.body("sidelight"),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
        producer_name="sidelight",
    )
    metadata: dict[str, Any] = {"labels": label_texts(model), "padding": len(sparse)}
    if isinstance(structure.extractor, AttributeExtractor):
        metadata["features"] = structure.extractor.names
    helper.set_model_props(proto, {name: json.dumps(value) for name, value in metadata.items()})
    onnx.checker.check_model(proto)
    return bytes(proto.SerializeToString())


def onnx_inputs(fitted: Any, x: Any) -> dict[str, Any]:
    """The inputs of the graph for one sentence; for classes `x` is a list of inputs."""
    model = model_of(fitted)
    rows = model.prepare([x] if plain_structure(model).sequences else x)
    counts = np.diff(rows.indptr)
    inputs: dict[str, Any] = {}
    if model.layout.n_attributes:
        width = int(counts.max(initial=1))
        places = np.arange(width) < counts[:, None]  # [T, F]
        numbers = np.full(places.shape, model.layout.n_attributes, dtype=np.int64)
        numbers[places] = rows.indices
        values = np.zeros(places.shape)
        values[places] = rows.values if len(rows.values) else 1.0
        inputs |= {"features": numbers, "values": values}
    if model.layout.n_dense:
        inputs["dense"] = rows.dense.astype(np.float64)
    return inputs


class _Graph:
    """Nodes, inputs, outputs and constants of a graph or of a loop's body."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node with one output; returns the output's name."""
        return self.add_all(kind, inputs, [name or f"{kind}_{id(self)}_{len(self.nodes)}"], **attributes)[0]

    def add_all(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Sequence[str]:
        """Add a node with several outputs; returns their names."""
        from onnx import helper

        self.nodes.append(helper.make_node(kind, list(inputs), list(outputs), **attributes))
        return outputs

    def constant(self, name: str, values: Floats | Ints) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def body(self, name: str) -> Any:
        """The graph itself."""
        from onnx import helper

        return helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants)

    def input(self, name: str, kind: int, shape: Sequence[Any]) -> None:
        from onnx import helper

        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))

    def output(self, name: str, kind: int, shape: Sequence[Any]) -> None:
        from onnx import helper

        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))


def _emissions(graph: _Graph, sparse: Floats, dense: Floats) -> str:
    """The score of every label at every token, without transitions. # [T, L]"""
    from onnx import TensorProto

    sums = []
    if len(sparse):
        graph.input("features", TensorProto.INT64, ["T", "F"])
        graph.input("values", TensorProto.DOUBLE, ["T", "F"])
        padded = graph.constant("feature_weights", np.vstack([sparse, np.zeros((1, sparse.shape[1]))]))
        rows = graph.add("Gather", padded, "features")  # [T, F, L]
        amounts = graph.add("Unsqueeze", "values", graph.constant("axis_2", np.array([2])))
        sums.append(
            graph.add("ReduceSum", graph.add("Mul", rows, amounts), graph.constant("axis_1", np.array([1])), keepdims=0)
        )
    if len(dense):
        graph.input("dense", TensorProto.DOUBLE, ["T", len(dense)])
        sums.append(graph.add("MatMul", "dense", graph.constant("dense_weights", dense)))
    return graph.add("Sum", *sums)


def _best_path(graph: _Graph, emissions: str, start: Floats, transition: Floats, end: Floats) -> None:
    """Viterbi: the forward pass computes the best score for each label, and the previous label; the backward pass
    follows these.

    Before the first token there is an additional state, number L, whose transitions are the weights of first labels.
    """
    from onnx import TensorProto

    size = len(start)
    graph.add("Identity", emissions, name="scores")
    graph.constant("moves", np.vstack([transition, start]))  # [L + 1, L]
    graph.constant("never", np.array([-np.inf]))
    forward = _Graph()
    forward.input("before", TensorProto.DOUBLE, [size + 1])
    forward.input("emission", TensorProto.DOUBLE, [size])
    column = forward.add("Unsqueeze", "before", graph.constant("axis_last", np.array([1])))
    ways = forward.add("Add", column, "moves")
    forward.add("ArgMax", ways, axis=0, keepdims=0, name="pointer")
    best = forward.add("Add", forward.add("ReduceMax", ways, axes=[0], keepdims=0), "emission")
    forward.add("Concat", best, "never", axis=0, name="after")
    forward.output("after", TensorProto.DOUBLE, [size + 1])
    forward.output("pointer", TensorProto.INT64, [size])
    begin = graph.constant("begin", np.append(np.full(size, -np.inf), 0.0))
    last, pointers = graph.add_all(
        "Scan", [begin, "scores"], ["last_scores", "pointers"], body=forward.body("forward"), num_scan_inputs=1
    )
    final = graph.add("Add", last, graph.constant("end", np.append(end, -np.inf)))
    final_label = graph.add("ArgMax", final, axis=0, keepdims=1)
    backward = _Graph()
    backward.input("label", TensorProto.INT64, [1])
    backward.input("pointer", TensorProto.INT64, [size])
    backward.add("Gather", "pointer", "label", name="earlier")
    backward.add("Identity", "label", name="here")
    backward.output("earlier", TensorProto.INT64, [1])
    backward.output("here", TensorProto.INT64, [1])
    _, path = graph.add_all(
        "Scan",
        [final_label, pointers],
        ["begins", "path"],
        body=backward.body("backward"),
        num_scan_inputs=1,
        scan_input_directions=[1],
        scan_output_directions=[1],
    )
    graph.add("Squeeze", path, "axis_last", name="labels")
