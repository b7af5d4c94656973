"""Files: exact, and harmless when opened."""

import json
import pickle
import zipfile

import pandas as pd
import pytest
import sklearn
import skops.io
from ensemble.ensemble_frames import fitted
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ragnb.ensemble import MetricEnsemble
from ragnb.errors import InputError

QUICK = LogisticRegression()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    ensemble, split = fitted(200, classifier=QUICK)
    path = tmp_path_factory.mktemp("ensembles") / "ensemble.skops"
    ensemble.save(path)
    return path, ensemble, split


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"classifier": GaussianNB(), "guarantee": "class", "alpha": 0.2},
        {"classifier": QUICK, "groups": ["en", "中文"] * 20, "empty": "fill", "alpha": 0.3},
        {"classifier": QUICK, "groups": [1, 2] * 20},
        {"classifier": QUICK, "guarantee": "decided", "delta": 0.3, "alpha": 0.3},
        {"classifier": QUICK, "probability_calibration": "sigmoid"},
        {"classifier": QUICK, "probability_calibration": "isotonic"},
    ],
    ids=lambda options: ", ".join(options) or "default",
)
def test_a_loaded_ensemble_predicts_exactly_what_the_saved_one_did(tmp_path, options):
    ensemble, split = fitted(200, **options)
    ensemble.save(tmp_path / "ensemble.skops")
    again = MetricEnsemble.load(tmp_path / "ensemble.skops")
    groups = options.get("groups")
    pd.testing.assert_frame_equal(
        again.decide(split.test.X, groups=groups), ensemble.decide(split.test.X, groups=groups), check_exact=True
    )
    pd.testing.assert_frame_equal(again.coverage(), ensemble.coverage(), check_exact=True)
    assert repr(again) == repr(ensemble)
    assert again.features == ensemble.features
    again.save(tmp_path / "again.skops")
    assert MetricEnsemble.load(tmp_path / "again.skops").summary() == ensemble.summary()


def test_types_that_are_not_known_for_safe_are_named_and_can_be_allowed(tmp_path):
    ensemble, split = fitted(200, classifier=RandomForestClassifier(4))
    ensemble.save(tmp_path / "forest.skops")
    with pytest.raises(
        InputError, match=r"forest.skops has sklearn.tree._tree.Tree; if you made the file yourself, and only"
    ):
        MetricEnsemble.load(tmp_path / "forest.skops")
    again = MetricEnsemble.load(tmp_path / "forest.skops", trusted=["sklearn.tree._tree.Tree"])
    pd.testing.assert_frame_equal(again.decide(split.test.X), ensemble.decide(split.test.X), check_exact=True)


def test_a_file_is_no_pickle(saved):
    with zipfile.ZipFile(saved[0]) as archive:
        names = archive.namelist()
        assert "schema.json" in names
        assert not [name for name in names if not name.endswith((".npy", ".json"))]


@pytest.mark.parametrize(("name", "why"), [("none.skops", "No such file"), (".", "Is a directory"), ("n" * 999, "too long")])
def test_what_is_no_file_is_refused_by_its_name(tmp_path, name, why):
    with pytest.raises(InputError, match=rf"needs a file that can be read; got .*{name}.*{why}.*; check the path"):
        MetricEnsemble.load(tmp_path / name)


# ---- hostile files -----------------------------------------------------------------------------------------------------


class Bomb:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (open, (self.target, "w"))


def rewritten(saved, path, change):
    """A copy of a good file whose schema has been changed."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content.decode()).encode() if name == "schema.json" else content)
    return path


def test_a_pickle_is_refused_and_not_run(tmp_path):
    target = tmp_path / "run"
    (tmp_path / "bomb.skops").write_bytes(pickle.dumps(Bomb(str(target))))
    with pytest.raises(InputError, match="needs a file that MetricEnsemble.save wrote; bomb.skops is none"):
        MetricEnsemble.load(tmp_path / "bomb.skops")
    assert not target.exists()


def test_a_file_that_names_a_function_of_the_system_is_refused(tmp_path):
    import shutil

    hostile = make_pipeline(FunctionTransformer(shutil.rmtree), QUICK)
    skops.io.dump({"classifier": hostile}, tmp_path / "hostile.skops")
    with pytest.raises(InputError, match="hostile.skops has shutil.rmtree"):
        MetricEnsemble.load(tmp_path / "hostile.skops")


@pytest.mark.parametrize("name", ["subprocess.Popen", "sklearn.utils._testing.check_output", "ragnb.llm.store.Store"])
def test_a_type_smuggled_into_a_good_file_is_refused(saved, tmp_path, name):
    module, _, kind = name.rpartition(".")
    old = '"__class__": "LogisticRegression", "__module__": "sklearn.linear_model._logistic"'

    def change(schema):
        schema = json.dumps(json.loads(schema))
        assert old in schema
        return schema.replace(old, f'"__class__": "{kind}", "__module__": "{module}"')

    path = rewritten(saved[0], tmp_path / "hostile.skops", change)
    with pytest.raises(InputError, match=f"hostile.skops has {name}; if you made"):
        MetricEnsemble.load(path)


@pytest.mark.parametrize("share", [0, 0.3, 0.99])
def test_a_cut_file_is_refused(saved, tmp_path, share):
    whole = saved[0].read_bytes()
    (tmp_path / "cut.skops").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match="cut.skops is none"):
        MetricEnsemble.load(tmp_path / "cut.skops")


@pytest.mark.parametrize("content", [[], {"classifier": 1}, GaussianNB()], ids=["list", "dict", "classifier"])
def test_other_content_is_refused(tmp_path, content):
    skops.io.dump(content, tmp_path / "other.skops")
    with pytest.raises(InputError, match=r"other.skops is none \(other content\)"):
        MetricEnsemble.load(tmp_path / "other.skops")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classifier": "text"}, "a classifier without predict_proba, str"),
        ({"alpha": 2.0}, "alpha needs a number strictly between 0 and 1"),
        ({"guarantee": "none"}, "guarantee needs one of"),
        ({"labels": [0, 1]}, "labels needs one label per row of the probabilities"),
    ],
)
def test_values_in_a_file_are_checked_like_any_others(saved, tmp_path, changes, message):
    fields = skops.io.load(saved[0])
    skops.io.dump(fields | changes, tmp_path / "odd.skops")
    with pytest.raises(InputError, match=message):
        MetricEnsemble.load(tmp_path / "odd.skops")


def test_another_version_of_scikit_learn_is_said(saved, tmp_path):
    fields = skops.io.load(saved[0])
    assert fields["versions"]["scikit-learn"] == sklearn.__version__
    skops.io.dump(fields | {"versions": fields["versions"] | {"scikit-learn": "0.9"}}, tmp_path / "old.skops")
    with pytest.warns(RuntimeWarning, match="old.skops was saved with scikit-learn 0.9 and is read with"):
        MetricEnsemble.load(tmp_path / "old.skops")
