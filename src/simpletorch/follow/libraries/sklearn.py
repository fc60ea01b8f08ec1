"""``sklearn``: data sets whose sizes are known, splits, and what keeps or sets the number of features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.libraries import gives, library_class, model, native
from simpletorch.follow.libraries.arrays import ANY, array, as_array
from simpletorch.follow.libraries.python.chance import any_of
from simpletorch.follow.values import Class, Instance, List, Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64, INT64, UINT8, DType
from simpletorch.shapes import UNKNOWN, Dim, Expr, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

# -- data sets -------------------------------------------------------------------------------------------------------

_LOADED: Final[dict[str, tuple[int, int, DType]]] = {
    "load_digits": (1797, 64, INT64),
    "load_iris": (150, 4, INT64),
    "load_wine": (178, 13, INT64),
    "load_breast_cancer": (569, 30, INT64),
    "load_diabetes": (442, 10, FLOAT64),
    "fetch_california_housing": (20640, 8, FLOAT64),
}


def _loader(name: str) -> Any:
    count, features, kind = _LOADED[name]

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        if args or not kwargs.keys() <= {"return_X_y", "data_home"}:
            return run.unknown("a data set")
        data, target = array(Shape((count, features)), FLOAT64), array(Shape((count,)), kind)
        if run.resolve(kwargs.get("return_X_y", False)) is True:
            return (data, target)
        made = Instance(run.program.library_class("sklearn.utils.Bunch"))
        made.cells.update(data=data, target=target)
        if name == "load_digits":
            made.cells["images"] = array(Shape((count, 8, 8)), FLOAT64)
        return made

    return work


def _of_bunch(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = run.resolve(args[1])
    return run.attribute(args[0], name) if isinstance(name, str) else run.unknown("a part of a data set")


library_class("sklearn.utils.Bunch", methods={"__getitem__": _of_bunch})
for _name in _LOADED:
    native(f"sklearn.datasets.{_name}")(_loader(_name))


@model("sklearn.datasets.load_sample_image")
def _sample_image(run: Interpreter, image_name: Value) -> Value:
    return array(Shape(_PICTURE), UINT8)


@model("sklearn.datasets.load_sample_images")
def _sample_images(run: Interpreter) -> Value:
    """Two photographs, which the package brings."""
    made = Instance(run.program.library_class("sklearn.utils.Bunch"))
    made.cells.update(images=List(tuple(array(Shape(_PICTURE), UINT8) for _ in range(2))))
    return made


_PICTURE: Final = (427, 640, 3)

# By name: the number of features where none is given, and the dtype of the targets.
_MADE: Final[dict[str, tuple[int, DType]]] = {
    "make_moons": (2, INT64),
    "make_circles": (2, INT64),
    "make_blobs": (2, INT64),
    "make_classification": (20, INT64),
    "make_regression": (100, FLOAT64),
    "make_swiss_roll": (3, FLOAT64),
    "make_s_curve": (3, FLOAT64),
    "make_friedman1": (10, FLOAT64),
}
_WITHOUT_FEATURES: Final = ("make_moons", "make_circles", "make_swiss_roll", "make_s_curve")


def _maker(name: str) -> Any:
    default, kind = _MADE[name]

    def size(run: Interpreter, value: Value) -> Item | None:
        value = run.resolve(value)
        if isinstance(value, int | Expr):
            return value
        return UNKNOWN if isinstance(value, Unknown) and value.type == "int" else None

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        fixed = name in _WITHOUT_FEATURES
        count = size(run, args[0] if args else kwargs.get("n_samples", 100))
        features = size(run, default if fixed else args[1] if len(args) > 1 else kwargs.get("n_features", default))
        centers = run.resolve(args[2] if len(args) > 2 else kwargs.get("centers"))
        strange = {"n_targets", "return_centers", "coef", "return_X_y"} & kwargs.keys()
        if count is None or features is None or strange or not (centers is None or isinstance(centers, int)):
            return run.unknown("made data")
        return (array(Shape((count, features)), FLOAT64), array(Shape((count,)), kind))

    return work


for _name in _MADE:
    native(f"sklearn.datasets.{_name}")(_maker(_name))


# -- splits ----------------------------------------------------------------------------------------------------------


def _parts(count: Value, test: Value, train: Value) -> tuple[Item, Item]:
    """How many samples are in the two parts, as sklearn rounds: up for the test, down for training."""
    if not isinstance(count, int):
        return UNKNOWN, UNKNOWN
    tested = math.ceil(test * count) if isinstance(test, float) else test
    trained = math.floor(train * count) if isinstance(train, float) else train
    if test is None and train is None:
        tested = math.ceil(0.25 * count)
    if tested is None and isinstance(trained, int):
        tested = count - trained
    if trained is None and isinstance(tested, int):
        trained = count - tested
    known = isinstance(tested, int) and isinstance(trained, int)
    return (trained, tested) if known else (UNKNOWN, UNKNOWN)


_MOST_ITEMS: Final = 5_000


def _part(run: Interpreter, source: Value, size: Item) -> Value:
    if isinstance(source, Tensor) and source.type.shape.min_rank:
        kind = source.type
        items = (size, *kind.shape.items[1:]) if kind.shape.head else ()
        return Tensor(TensorType(Shape(items) if items else ANY, kind.dtype), array=source.array)
    if isinstance(source, Instance) and source.cls.module == "pandas":
        return run.call(run.attribute(source, "sample"), ())
    if isinstance(source, List | tuple | range):
        if isinstance(size, int) and size <= _MOST_ITEMS:
            return List(tuple(any_of(run, source) for _ in range(size)))
        return List(None, any_of(run, source))
    return run.unknown("a part of the data")


@native("sklearn.model_selection.train_test_split")
def _train_test_split(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    sources = [run.resolve(a) for a in args]
    sizes = [run.resolve(kwargs.get(n)) for n in ("test_size", "train_size")]
    out: list[Value] = []
    for source in sources:
        count: Value = UNKNOWN
        if isinstance(source, Tensor) and source.type.shape.head:
            count = source.type.shape.dim(0)
        elif isinstance(source, List | tuple | range):
            items = run.items(source)
            count = UNKNOWN if items is None else len(items)
        unclear = any(not (v is None or isinstance(v, int | float)) for v in sizes)
        out += [_part(run, source, s) for s in ((UNKNOWN, UNKNOWN) if unclear else _parts(count, *sizes))]
    return List(tuple(out))


# -- what is fitted --------------------------------------------------------------------------------------------------


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _floats(dtype: DType | None) -> DType | None:
    """Floats stay as they are, all else becomes float64."""
    return dtype if dtype is None or dtype in (FLOAT32, FLOAT64) else FLOAT64


def _scaled(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = run.resolve(args[1] if len(args) > 1 else kwargs.get("X"))
    if isinstance(source, Unknown):
        return run.unknown("scaled data")
    given = as_array(run, source).type
    return array(given.shape, _floats(given.dtype))


for _name in (
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "Normalizer",
    "QuantileTransformer",
    "PowerTransformer",
):
    library_class(
        f"sklearn.preprocessing.{_name}",
        methods={
            "fit": _itself,
            "partial_fit": _itself,
            **dict.fromkeys(("transform", "fit_transform", "inverse_transform"), _scaled),
        },
    )


def _encoded(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = run.resolve(args[1] if len(args) > 1 else kwargs.get("y"))
    shape = Shape((UNKNOWN,)) if isinstance(source, Unknown) else as_array(run, source).type.shape
    return array(shape if shape.rank == 1 else Shape((UNKNOWN,)), INT64)


library_class(
    "sklearn.preprocessing.LabelEncoder", methods={"fit": _itself, "fit_transform": _encoded, "transform": _encoded}
)


def _make_reducer(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    default = 2 if cls.name == "TSNE" else None
    return Instance(cls, (run.resolve(args[0] if args else kwargs.get("n_components", default)),))


def _reduced(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = run.resolve(args[1] if len(args) > 1 else kwargs.get("X"))
    (kept,) = args[0].native
    given = TensorType() if isinstance(source, Unknown) else as_array(run, source).type
    count: Dim = given.shape.dim(0) if given.shape.head else UNKNOWN
    size = kept if isinstance(kept, int | Expr) and not isinstance(kept, bool) else UNKNOWN
    return array(Shape((count, size)), FLOAT32 if args[0].cls.name == "TSNE" else _floats(given.dtype))


for _name in ("decomposition.PCA", "decomposition.TruncatedSVD", "manifold.TSNE"):
    library_class(
        f"sklearn.{_name}",
        make=_make_reducer,
        methods={"fit": _itself, "transform": _reduced, "fit_transform": _reduced},
    )

gives(
    " ".join(
        f"sklearn.metrics.{n}"
        for n in (
            "accuracy_score",
            "roc_auc_score",
            "log_loss",
            "r2_score",
            "cohen_kappa_score",
            "balanced_accuracy_score",
        )
    ),
    "float",
    "data",
)
