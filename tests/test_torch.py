"""TorchModel: gradients, batches and stopping against oracles; nothing of the user's is touched."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import f1_score

from anymetric import Descent, MetricClassifier, MetricRegressor, Subspace, as_metric, per_class
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.losses import as_loss
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.projections import LBFGS, Minibatch
from anymetric.solvers import WeightedLoss, minimise

torch = pytest.importorskip("torch", reason="networks need torch: pip install 'anymetric[torch]'")
nn = torch.nn
networks = pytest.importorskip("anymetric.models._torch_network")
training = pytest.importorskip("anymetric.models._torch_training")
TorchModel = pytest.importorskip("anymetric.models.torch").TorchModel
Network = networks.Network


def straight(d):
    """A linear model without a bias: the network's own offset is its intercept."""
    return nn.Linear(d, 1, bias=False)


def bent(d, outputs):
    return nn.Sequential(nn.Linear(d, 6), nn.Tanh(), nn.Linear(6, outputs))


def normed(d, outputs):
    return nn.Sequential(nn.Linear(d, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, outputs))


def dropped(d, outputs):
    return nn.Sequential(nn.Linear(d, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, outputs))


class Recurrent(nn.Module):
    """Reads the columns one after the other: a layer that cannot be mapped over."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 3, batch_first=True)
        self.last = nn.Linear(3, 1)

    def forward(self, x):
        return self.last(self.lstm(x.unsqueeze(-1))[0][:, -1])


MODULES = {"bent": bent, "normed": normed, "dropped": dropped}


def begun(module, data, classes=2, **settings):
    settings = {"dtype": "float64", **settings}
    rng = np.random.default_rng(1)
    return TorchModel(module, **settings).begun(data, data.weights, rng, classes=classes)


@pytest.fixture
def codes(data):
    """The same rows in three classes."""
    return Data(data.X, np.digitize(data.X[:, 0], [0.0, 0.8]).astype(float), side=data.side)


def moons(n=600, seed=0):
    X, y = make_moons((n - n // 10, n // 10), noise=0.2, random_state=seed)
    return X, y


# Parameters to scores and back.


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_pullback_is_the_derivative_of_the_scores(module, classes, data, codes, rng):
    rows = (data if classes == 2 else codes).take(np.arange(30))
    network = begun(module, rows, classes)
    theta = network.theta + 0.1 * rng.normal(size=network.size(rows.X))
    slopes = rng.normal(size=len(rows) * network.outputs)
    found = network.pullback(rows.X, theta, slopes)
    for k in rng.choice(len(theta), 12):
        step = np.zeros(len(theta))
        step[k] = 1e-6
        moved = network.scores(rows.X, theta + step) - network.scores(rows.X, theta - step)
        assert found[k] == pytest.approx(slopes @ moved / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("classes", [2, 3])
def test_many_pullbacks_are_the_single_ones_dense_or_sparse(classes, data, codes, rng):
    rows = data if classes == 2 else codes
    network = begun(bent, rows, classes, chunk=2)
    slopes = rng.normal(size=(3, len(rows) * network.outputs))
    slopes[rng.random(slopes.shape) < 0.7] = 0.0
    theta = network.theta
    alone = np.stack([network.pullback(rows.X, theta, one) for one in slopes])
    np.testing.assert_allclose(network.pullback(rows.X, theta, slopes), alone, atol=1e-9)
    for form in (sparse.csr_array, sparse.csc_array):
        np.testing.assert_allclose(network.pullback(rows.X, theta, form(slopes)), alone, atol=1e-9)


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("chunk", [1, 3, 16])
def test_many_parameter_vectors_score_as_each_alone(module, classes, chunk, data, codes, rng):
    rows = data if classes == 2 else codes
    network = begun(module, rows, classes, chunk=chunk)
    thetas = network.theta + 0.1 * rng.normal(size=(5, network.size(rows.X)))
    many = network.scores(rows.X, thetas)
    assert many.shape == (len(rows) * network.outputs, 5)
    alone = np.stack([network.scores(rows.X, theta) for theta in thetas], axis=1)
    np.testing.assert_allclose(many, alone, atol=1e-10)


def test_a_layer_that_cannot_be_mapped_over_is_looped_over(data, rng):
    network = begun(Recurrent(), data)
    thetas = network.theta + 0.1 * rng.normal(size=(3, network.size(data.X)))
    alone = np.stack([network.scores(data.X, theta) for theta in thetas], axis=1)
    np.testing.assert_allclose(network.scores(data.X, thetas), alone, atol=1e-10)


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_the_network_at_its_parameters_is_the_module_itself(module, data, rng):
    network = begun(module, data)
    theta = network.theta + rng.normal(size=network.size(data.X))
    moved = network.at(theta)
    np.testing.assert_allclose(moved.theta, theta)
    np.testing.assert_allclose(moved.scores(data.X), network.scores(data.X, theta), atol=1e-10)
    with torch.no_grad():
        own = moved.module(moved.seen(data.X))[:, 0].numpy() + theta[-1]
    np.testing.assert_allclose(moved.scores(data.X), own, atol=1e-10)


def test_parameters_stand_in_torchs_own_order(data):
    network = begun(bent, data)
    own = nn.utils.parameters_to_vector(network.module.parameters()).detach().numpy()
    np.testing.assert_array_equal(network.theta[:-1], own)


def test_a_layer_that_asks_for_no_gradient_stays(data, rng):
    module = bent(4, 1)
    module[0].requires_grad_(False)
    model = TorchModel(module, reset=False, epochs=3, dtype="float64")
    network = model.learn(data, data.weights, rng)
    assert network.size(data.X) == 6 + 1 + 1
    for before, after in zip(module[0].parameters(), network.module[0].parameters(), strict=True):
        np.testing.assert_allclose(after.detach(), before.detach())


@pytest.mark.parametrize("X", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("rows", [29, 300])
def test_the_size_of_a_batch_makes_no_difference(X, rows, data, monkeypatch):
    network = begun(normed, data)
    whole = network.scores(data.X), network.pullback(data.X, network.theta, data.y)
    monkeypatch.setattr(Network.batches, "__defaults__", (rows,))
    np.testing.assert_allclose(network.scores(X(data.X)), whole[0], atol=1e-10)
    np.testing.assert_allclose(network.pullback(X(data.X), network.theta, data.y), whole[1])


# A linear module is the linear model.


@pytest.fixture
def pair(data):
    linear = Linear.standardised(data.X)
    problems = [
        Problem(data, per_class("logistic"), as_metric("gmean"), model=model)
        for model in (linear, begun(straight, data))
    ]
    return data, problems


def test_a_linear_module_has_the_profile_and_jacobian_of_linear(pair, rng):
    data, (linear, network) = pair
    theta = rng.normal(size=data.X.shape[1] + 1)
    for one, other in zip(linear.linearise(theta), network.linearise(theta), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    thetas = rng.normal(size=(4, len(theta)))
    np.testing.assert_allclose(linear.profile(thetas), network.profile(thetas), atol=1e-9)
    np.testing.assert_allclose(linear.cost(thetas), network.cost(thetas))


def test_a_linear_module_learns_the_minimiser_of_the_weighted_loss(data, rng):
    rows = rng.exponential(size=len(data))
    model = TorchModel(
        straight, held_out=0.0, weight_decay=0.0, lr=0.03, epochs=400, batch_size=1000
    )
    found = model.learn(data, rows, rng)
    linear = Linear.standardised(data.X)
    loss = WeightedLoss(linear, data, as_loss("logistic"), rows, 0.0)
    best = minimise(loss)
    assert loss.value_and_gradient(found.theta)[0] <= loss.value_and_gradient(best)[0] + 1e-4
    np.testing.assert_allclose(found.scores(data.X), linear.scores(data.X, best), atol=0.05)


@pytest.mark.parametrize("optimiser", ["adam", "adagrad"])
@pytest.mark.parametrize("size", [23, 64, 1000])
def test_batches_of_any_size_lead_to_the_same_place(optimiser, size, data, rng):
    model = TorchModel(straight, held_out=0.0, epochs=60, batch_size=size, optimiser=optimiser)
    rate = 0.05 if optimiser == "adam" else 0.5
    found = model.set_params(lr=rate).learn(data, data.weights, rng)
    linear = Linear.standardised(data.X)
    loss = WeightedLoss(linear, data, as_loss("logistic"), data.weights, 0.0)
    least = loss.value_and_gradient(minimise(loss))[0]
    assert loss.value_and_gradient(found.theta)[0] < least + 0.02


def test_weight_is_repetition(data):
    twice = np.where(data.y > 0, 2.0, 1.0)
    again = data.take(np.repeat(np.arange(len(data)), twice.astype(int)))
    settings = {"held_out": 0.0, "weight_decay": 0.0, "lr": 0.03, "epochs": 300}
    model = TorchModel(straight, batch_size=1000, standardize=False, **settings)
    one = model.learn(data, twice, np.random.default_rng(0))
    other = model.learn(again, again.weights, np.random.default_rng(0))
    np.testing.assert_allclose(one.scores(data.X), other.scores(data.X), atol=0.02)


# Training.


def test_softmax_slopes_are_torchs_own(rng):
    scores, y = rng.normal(size=(20, 4)), rng.integers(4, size=20)
    losses, slopes = training.Softmax().with_slopes(scores, y.astype(float))
    given = torch.tensor(scores, requires_grad=True)
    theirs = nn.functional.cross_entropy(given, torch.tensor(y), reduction="none")
    theirs.sum().backward()
    np.testing.assert_allclose(losses, theirs.detach().numpy())
    np.testing.assert_allclose(slopes, given.grad.numpy(), atol=1e-12)


def test_early_stopping_stops_and_keeps_the_best_epoch(rng, monkeypatch):
    X = rng.normal(size=(200, 5))
    noise = Data(X, rng.choice([-1.0, 1.0], 200))
    values = []
    real = training.Course.value
    monkeypatch.setattr(
        training.Course, "value", lambda *args: values.append(real(*args)) or values[-1]
    )
    model = TorchModel(bent, lr=0.05, epochs=500, patience=4, dtype="float64")
    network = model.learn(noise, noise.weights, rng)
    assert 4 < len(values) < 100
    _, held = model._training().parted(noise.y, np.arange(200), True)
    losses = as_loss("logistic").of_scores(network.scores(X[held]), noise.y[held])
    assert losses.mean() == pytest.approx(min(values))


def test_rows_held_out_are_an_even_share_of_each_class(rng):
    y = np.where(rng.random(4000) < 0.05, 1.0, -1.0)
    fitted, held = training.Training(held_out=0.2).parted(y, np.arange(4000), True)
    assert sorted([*fitted, *held]) == list(range(4000))
    for sign in (-1.0, 1.0):
        assert np.mean(np.isin(np.flatnonzero(y == sign), held)) == pytest.approx(0.2, abs=0.01)


def test_rows_held_out_stay_so_when_others_follow(rng):
    y = rng.choice([0.0, 1.0, 2.0], 500)
    few, more = (
        set(training.Training().parted(y[:n], np.arange(n), True)[1].tolist()) for n in (300, 500)
    )
    assert few == {row for row in more if row < 300}


def test_rows_without_weight_are_not_read(rng, data):
    rows = np.where(np.arange(len(data)) < 150, 1.0, 0.0)
    corrupted = Data(np.where(rows[:, None] > 0, data.X, 1e6), data.y)
    one, other = (
        TorchModel(bent, epochs=3).learn(given, rows, np.random.default_rng(0))
        for given in (data, corrupted)
    )
    np.testing.assert_array_equal(one.scores(data.X), other.scores(data.X))


def test_training_goes_on_from_a_start(data, rng):
    model = TorchModel(bent, epochs=30, lr=0.02)
    first = model.learn(data, data.weights, rng)
    brief = TorchModel(bent, epochs=1, lr=1e-6)
    near = brief.learn(data, data.weights, rng, start=first)
    np.testing.assert_allclose(near.theta, first.theta, atol=1e-3)
    other = TorchModel(straight, epochs=1).learn(data, data.weights, rng, start=first)
    assert other.size(data.X) == 5


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_three_classes_are_learned(module, codes, rng):
    network = TorchModel(module, lr=0.02, epochs=60).learn(codes, codes.weights, rng, classes=3)
    scores = network.scores(codes.X)
    assert scores.shape == (len(codes), 3)
    assert np.mean(scores.argmax(axis=1) == codes.y) > 0.85


def test_a_real_target_of_any_unit_is_learned(rng):
    X = rng.normal(size=(400, 3))
    y = 1e6 + 1e4 * np.abs(X[:, 0])
    model = TorchModel(bent, lr=0.02)
    network = model.learn(Data(X, y), np.ones(400), rng, classes=0)
    assert np.mean(np.abs(network.scores(X) - y)) < 0.3 * np.mean(np.abs(y - y.mean()))


def test_two_outputs_for_two_classes_are_their_difference(data):
    module = nn.Linear(4, 2)
    network = begun(module, data, reset=False, standardize=False)
    with torch.no_grad():
        both = network.module(torch.as_tensor(data.X)).numpy()
    np.testing.assert_allclose(network.scores(data.X), both[:, 1] - both[:, 0])


# Evaluation mode.


@pytest.mark.parametrize("module", [dropped, normed], ids=["dropped", "normed"])
def test_what_is_drawn_or_counted_in_training_does_not_touch_probes(module, data, rng):
    network = TorchModel(module, epochs=5).learn(data, data.weights, rng)
    state = copy.deepcopy(network.module.state_dict())
    first = network.scores(data.X, network.theta)
    network.pullback(data.X, network.theta, data.y)
    np.testing.assert_array_equal(network.scores(data.X, network.theta), first)
    np.testing.assert_allclose(network.scores(data.X[:7]), first[:7], atol=1e-5)
    for name, value in network.module.state_dict().items():
        assert torch.equal(value, state[name])


def test_batch_norm_learns_its_statistics(data, rng):
    network = TorchModel(normed, epochs=5).learn(data, data.weights, rng)
    assert float(network.module[1].running_mean.abs().sum()) > 0.0
    assert int(network.module[1].num_batches_tracked) > 0


# The user's things.


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_module_generator_and_threads_are_left_as_they_were(module, data):
    given = module(4, 1).train()
    before = copy.deepcopy(given.state_dict())
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    network = TorchModel(given, epochs=2).learn(data, data.weights, np.random.default_rng(0))
    network.scores(data.X)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert given.training
    for name, value in given.state_dict().items():
        assert torch.equal(value, before[name])


@pytest.mark.parametrize("given", [True, False], ids=["module", "function"])
def test_the_generator_decides_everything(given, data):
    module = dropped(4, 1) if given else dropped
    model = TorchModel(module, epochs=3)
    torch.manual_seed(1)
    one = model.learn(data, data.weights, np.random.default_rng(0)).theta
    torch.manual_seed(2)
    np.testing.assert_array_equal(
        model.learn(data, data.weights, np.random.default_rng(0)).theta, one
    )
    assert not np.array_equal(model.learn(data, data.weights, np.random.default_rng(3)).theta, one)


def test_own_weights_are_kept_if_asked(data, rng):
    module = bent(4, 1)
    own = nn.utils.parameters_to_vector(module.parameters()).detach().numpy()
    kept = TorchModel(module, reset=False).begun(data, data.weights, rng)
    anew = TorchModel(module).begun(data, data.weights, rng)
    np.testing.assert_array_equal(kept.theta[:-1], own)
    assert not np.array_equal(anew.theta[:-1], own)


def test_networks_pickle(data, rng):
    network = TorchModel(normed, epochs=2).learn(data, data.weights, rng)
    again = pickle.loads(pickle.dumps(network))
    np.testing.assert_array_equal(again.scores(data.X), network.scores(data.X))


# Mistakes.


@pytest.mark.parametrize(
    ("settings", "classes", "told"),
    [
        ({"module": 3}, 2, "must be an nn.Module, or a function"),
        ({"module": lambda d: "net"}, 2, "must return an nn.Module; got 'net'"),
        ({"module": lambda d: nn.Linear(d, 3)}, 2, "it gave (2, 3). Give its last layer 1 output"),
        ({"module": lambda d: nn.Linear(d, 1)}, 3, "it gave (2, 1). Give its last layer 3 output"),
        (
            {"module": nn.Linear(9, 1)},
            2,
            "was given rows of X, which has 4 columns, and failed: mat",
        ),
        ({"module": straight, "epochs": 0}, 2, "epochs must be positive; got 0"),
        ({"module": straight, "held_out": 1.0}, 2, "held_out must be at least 0 and below 1"),
        ({"module": straight, "optimiser": "sgd"}, 2, "optimiser must be one of"),
        ({"module": straight, "device": "nowhere"}, 2, "The device 'nowhere' is not there"),
        ({"module": straight, "dtype": "number"}, 2, "dtype must be a floating type of torch"),
    ],
)
def test_mistakes_are_reported(settings, classes, told, data, rng):
    with pytest.raises((TypeError, ValueError)) as error:
        TorchModel(**settings).learn(data, data.weights, rng, classes=classes)
    assert told in str(error.value)


def test_without_torch_all_else_works_and_the_model_says_what_is_missing():
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'torch':\n"
        "            raise ModuleNotFoundError('No module named torch', name='torch')\n"
        "sys.meta_path.insert(0, Without())\n"
        "import anymetric\n"
        "from anymetric import *\n"
        "anymetric.MetricClassifier('f1')\n"
        "try:\n    anymetric.TorchModel(None)\n"
        "except anymetric.MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "TorchModel needs torch: pip install 'anymetric[torch]'.\n", done.stderr


# Projection and descent.


@pytest.fixture
def posed(data):
    network = TorchModel(bent, epochs=20).learn(data, data.weights, np.random.default_rng(0))
    return Problem(data, per_class("logistic"), as_metric("gmean"), model=network)


@pytest.mark.parametrize("optimiser", ["adam", "adagrad"])
@pytest.mark.parametrize("size", [17, 10_000])
def test_a_target_in_reach_is_reached_by_batches(posed, optimiser, size):
    theta = posed.model.theta
    target = posed.profile(theta) + np.array([0.2, -0.1])
    step = {"adam": 3e-3, "adagrad": 1e-2}[optimiser]
    projector = Minibatch(step, epochs=40, batch_size=size, optimiser=optimiser)
    reached = projector.project(posed, target, theta, accuracy=1e-4)
    assert reached.objective <= 1e-4 < 0.1**2
    assert reached.good_enough
    np.testing.assert_allclose(reached.profile, posed.profile(reached.theta))


def test_a_whole_batch_has_the_gradient_of_the_objective(posed, rng):
    from anymetric.projections.minibatch import Tracked

    theta = posed.model.theta
    target = posed.profile(theta) - np.array([0.1, -0.1])
    tracked = Tracked.at(posed.engine, theta)
    found = tracked.renewed(rng.permutation(len(posed.train)), theta, target)
    np.testing.assert_allclose(found, posed.excess(theta, target)[1], atol=1e-7)


def test_tracked_sums_are_the_profile_once_every_row_was_renewed(posed, rng):
    from anymetric.projections.minibatch import Tracked

    theta = posed.model.theta
    other = theta + 0.1 * rng.normal(size=len(theta))
    tracked = Tracked.at(posed.engine, theta)
    for rows in np.array_split(rng.permutation(len(posed.train)), 7):
        tracked.renewed(rows, other, np.zeros(2))
    np.testing.assert_allclose(tracked.profile, posed.profile(other), atol=1e-9)


def test_batches_project_as_well_as_all_rows_for_a_linear_model(data):
    problem = Problem(data, per_class("logistic"), as_metric("gmean"))
    target, theta = np.array([0.3, 0.5]), np.zeros(5)
    best = LBFGS().project(problem, target, theta).objective
    found = Minibatch(0.01, epochs=100, batch_size=50).project(problem, target, theta).objective
    assert found <= best + 2e-3


def test_surrogates_that_see_all_rows_are_projected_whole(data):
    from anymetric import PrecisionAtRecall

    surrogates = [PrecisionAtRecall(0.5), PrecisionAtRecall(0.9)]
    problem = Problem(data, surrogates, as_metric("roc_auc"))
    begun = problem.profile(np.zeros(5))
    found = Minibatch(0.05, epochs=30).project(problem, 0.7 * begun, np.zeros(5))
    assert found.objective < 0.1 * float(np.sum((0.3 * begun) ** 2))


def test_descent_lowers_the_cost_of_a_network_and_repeats_itself(posed):
    descent = Descent(
        iterations=8, step=0.2, gradient=Subspace(m=16), projection=Minibatch(1e-3), normalised=True
    )
    start = posed.model.theta
    start[-1] -= 1.0
    runs = [descent.run(Ledger(posed), [start], np.random.default_rng(5)) for _ in range(2)]
    assert runs[0].cost < runs[0].iterations[0].cost - 0.02
    np.testing.assert_array_equal(runs[0].theta, runs[1].theta)


# The door.


def small(d, outputs):
    return nn.Sequential(nn.Linear(d, 12), nn.ReLU(), nn.Linear(12, outputs))


def deep(d):
    layers = nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)
    return nn.Sequential(*layers)


@pytest.mark.parametrize(
    "method", ["auto", "descent", Descent(iterations=2, gradient=Subspace(m=8))]
)
def test_the_estimator_clones_pickles_and_repeats_itself(method):
    X, y = moons(120)
    model = TorchModel(small, lr=0.05, epochs=3, batch_size=64)
    clf = MetricClassifier("f1", model=model, method=method, max_metric_calls=140, random_state=0)
    fits = [clone(clf).fit(X, y, X_val=X[::2], y_val=y[::2]) for _ in range(2)]
    again = pickle.loads(pickle.dumps(fits[0]))
    scores = fits[0].decision_function(X)
    np.testing.assert_array_equal(scores, fits[1].decision_function(X))
    np.testing.assert_array_equal(scores, again.decision_function(X))
    assert not hasattr(fits[0], "coef_")
    assert fits[0].score(X, y) == pytest.approx(f1_score(y, fits[0].predict(X)))


def test_a_network_does_what_a_line_cannot():
    X, y = moons(500)
    new = moons(2000, seed=1)
    model = TorchModel(deep, lr=0.02, epochs=25, patience=5)
    line = MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    curve = MetricClassifier("f1", model=model, max_metric_calls=3, random_state=0).fit(X, y)
    assert curve.score(*new) > line.score(*new) + 0.1


def test_settings_are_reached_through_the_estimator():
    clf = MetricClassifier("f1", model=TorchModel(small)).set_params(model__lr=0.5)
    assert clone(clf).get_params()["model__lr"] == 0.5
    assert clf.model.stiffer().weight_decay > clf.model.weight_decay


def test_progress_and_budget_are_reported(capsys):
    X, y = moons(200)
    model = TorchModel(small, lr=0.03, epochs=5)
    clf = MetricClassifier(
        "f1", model=model, method="descent", max_metric_calls=200, verbose=10, random_state=0
    ).fit(X, y)
    assert clf.n_metric_calls_ <= 200
    assert clf.status_.name == "BUDGET"
    assert "f1" in capsys.readouterr().err
    assert sum(clf.weights_.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["auto", "descent"])
def test_regression_is_in_the_units_of_the_target(method, rng):
    X = rng.normal(size=(300, 2))
    y = 500.0 + 100.0 * np.abs(X[:, 0])
    model = TorchModel(small, lr=0.05, epochs=15)
    reg = MetricRegressor(
        "median_absolute_error", model=model, method=method, max_metric_calls=200, random_state=0
    )
    plain = MetricRegressor("median_absolute_error", model="linear", random_state=0)
    assert reg.fit(X, y).score(X, y) < 0.5 * plain.fit(X, y).score(X, y)


@pytest.mark.parametrize("method", ["auto", "descent"])
def test_many_classes_go_through_the_same_interface(method, codes):
    model = TorchModel(small, lr=0.05, epochs=8, batch_size=64)
    clf = MetricClassifier(
        "macro_f1", model=model, method=method, max_metric_calls=200, random_state=0
    )
    clf.fit(codes.X, codes.y, X_val=codes.X[::2], y_val=codes.y[::2])
    assert clf.decision_function(codes.X).shape == (len(codes), 3)
    assert clf.score(codes.X, codes.y) > 0.8
