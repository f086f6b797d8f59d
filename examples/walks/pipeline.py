"""A scikit-learn pipeline: which of two train offers is taken?  The data come with the package."""

from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pairity import ObjectTransformer, PairSVC
from pairity.datasets import load_train_choice
from pairity.model_selection import PairKFold

data = load_train_choice()
pairs, y, travellers = data.pairs[:900], data.y[:900], data.groups[:900]
model = make_pipeline(
    ObjectTransformer(StandardScaler()), PairSVC("antisymmetric", kernel="linear")
)
search = GridSearchCV(model, {"pairsvc__C": [0.01, 0.1, 1.0]}, cv=PairKFold(5, new=(0, 1, 2)))
search.fit(pairs, y, groups=travellers)
scores = cross_val_score(
    search.best_estimator_, pairs, y, groups=travellers, cv=PairKFold(5, new=(0, 1, 2))
)
print(search.best_params_, f"accuracy {scores.mean():.3f} on travellers that were held out")
print(
    "swap law:", (search.decision_function(pairs) == -search.decision_function(pairs.swap())).all()
)
