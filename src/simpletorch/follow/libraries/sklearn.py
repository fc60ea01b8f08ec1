"""``sklearn``: data sets whose sizes are known, splits, and what keeps or sets the number of features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import Work, gives, library_class, model, native, signed
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


_LOADING: Final = {
    "load_digits": "*, n_class=10, return_X_y=False, as_frame=False",
    "load_diabetes": "*, return_X_y=False, as_frame=False, scaled=True",
    "fetch_california_housing": "*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=False, "
    "n_retries=3, delay=1.0",
}
"""The parameters of those that have others than the most."""


def _loader(name: str) -> Work:
    count, features, kind = _LOADED[name]

    def work(run: Interpreter, given: dict[str, Value]) -> Value:
        if not given.keys() <= {"return_X_y", "data_home"}:
            return run.unknown("a data set")
        data, target = array(Shape((count, features)), FLOAT64), array(Shape((count,)), kind)
        if given.get("return_X_y") is True:
            return (data, target)
        made = Instance(run.program.library_class("sklearn.utils.Bunch"))
        made.cells.update(data=data, target=target)
        if name == "load_digits":
            made.cells["images"] = array(Shape((count, 8, 8)), FLOAT64)
        return made

    return signed(_LOADING.get(name, "*, return_X_y=False, as_frame=False"), work)


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

# By name: the number of features where none is given, the dtype of the targets, and the parameters.
_MADE: Final[dict[str, tuple[int, DType, str]]] = {
    "make_moons": (2, INT64, "n_samples=100, *, shuffle=True, noise=None, random_state=None"),
    "make_circles": (2, INT64, "n_samples=100, *, shuffle=True, noise=None, random_state=None, factor=0.8"),
    "make_blobs": (
        2,
        INT64,
        "n_samples=100, n_features=2, *, centers=None, cluster_std=1.0, center_box=(-10.0, 10.0), shuffle=True, "
        "random_state=None, return_centers=False",
    ),
    "make_classification": (
        20,
        INT64,
        "n_samples=100, n_features=20, *, n_informative=2, n_redundant=2, n_repeated=0, n_classes=2, "
        "n_clusters_per_class=2, weights=None, flip_y=0.01, class_sep=1.0, hypercube=True, shift=0.0, scale=1.0, "
        "shuffle=True, random_state=None, return_X_y=True",
    ),
    "make_regression": (
        100,
        FLOAT64,
        "n_samples=100, n_features=100, *, n_informative=10, n_targets=1, bias=0.0, effective_rank=None, "
        "tail_strength=0.5, noise=0.0, shuffle=True, coef=False, random_state=None",
    ),
    "make_swiss_roll": (3, FLOAT64, "n_samples=100, *, noise=0.0, random_state=None, hole=False"),
    "make_s_curve": (3, FLOAT64, "n_samples=100, *, noise=0.0, random_state=None"),
    "make_friedman1": (10, FLOAT64, "n_samples=100, n_features=10, *, noise=0.0, random_state=None"),
}
_WITHOUT_FEATURES: Final = ("make_moons", "make_circles", "make_swiss_roll", "make_s_curve")


def _maker(name: str) -> Work:
    default, kind, parameters = _MADE[name]

    def size(value: Value) -> Item | None:
        if isinstance(value, int | Expr):
            return value
        return UNKNOWN if isinstance(value, Unknown) and value.type == "int" else None

    def work(run: Interpreter, given: dict[str, Value]) -> Value:
        count = size(given.get("n_samples", 100))
        features = size(default if name in _WITHOUT_FEATURES else given.get("n_features", default))
        centers = given.get("centers")
        strange = {"n_targets", "return_centers", "coef", "return_X_y"} & given.keys()
        if count is None or features is None or strange or not (centers is None or isinstance(centers, int)):
            return run.unknown("made data")
        return (array(Shape((count, features)), FLOAT64), array(Shape((count,)), kind))

    return signed(parameters, work)


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


@model("sklearn.model_selection.train_test_split")
def _train_test_split(
    run: Interpreter,
    *arrays: Value,
    test_size: Value = None,
    train_size: Value = None,
    random_state: Value = None,
    shuffle: Value = True,
    stratify: Value = None,
) -> Value:
    sources, sizes = arrays, (test_size, train_size)
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


def _itself(run: Interpreter, self: Value, X: Value, y: Value = None, sample_weight: Value = None) -> Value:
    return self


def _floats(dtype: DType | None) -> DType | None:
    """Floats stay as they are, all else becomes float64."""
    return dtype if dtype is None or dtype in (FLOAT32, FLOAT64) else FLOAT64


def _scaled(run: Interpreter, self: Value, X: Value, copy: Value = None) -> Value:
    if isinstance(X, Unknown):
        return run.unknown("scaled data")
    given = as_array(run, X).type
    return array(given.shape, _floats(given.dtype))


def _fitted(run: Interpreter, self: Value, X: Value, y: Value = None, **rest: Value) -> Value:
    return _scaled(run, self, X)


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
            **dict.fromkeys(("transform", "inverse_transform"), _scaled),
            "fit_transform": _fitted,
        },
    )


def _encoded(run: Interpreter, self: Value, y: Value) -> Value:
    shape = Shape((UNKNOWN,)) if isinstance(y, Unknown) else as_array(run, y).type.shape
    return array(shape if shape.rank == 1 else Shape((UNKNOWN,)), INT64)


def _learned(run: Interpreter, self: Value, y: Value) -> Value:
    return self


library_class(
    "sklearn.preprocessing.LabelEncoder", methods={"fit": _learned, "fit_transform": _encoded, "transform": _encoded}
)


def _make_reducer(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    default = 2 if cls.name == "TSNE" else None
    return Instance(cls, (run.resolve(args[0] if args else kwargs.get("n_components", default)),))


def _reduced(run: Interpreter, self: Value, X: Value) -> Value:
    (kept,) = self.native
    given = TensorType() if isinstance(X, Unknown) else as_array(run, X).type
    count: Dim = given.shape.dim(0) if given.shape.head else UNKNOWN
    size = kept if isinstance(kept, int | Expr) and not isinstance(kept, bool) else UNKNOWN
    return array(Shape((count, size)), FLOAT32 if self.cls.name == "TSNE" else _floats(given.dtype))


def _fit_reduced(run: Interpreter, self: Value, X: Value, y: Value = None) -> Value:
    return _reduced(run, self, X)


for _name in ("decomposition.PCA", "decomposition.TruncatedSVD", "manifold.TSNE"):
    library_class(
        f"sklearn.{_name}",
        make=_make_reducer,
        methods={"fit": _itself, "transform": _reduced, "fit_transform": _fit_reduced},
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
