# == data sets
from sklearn.datasets import load_digits, load_iris, load_wine, load_breast_cancer, load_diabetes
digits = load_digits()
x, y = digits.data, digits.target
images = digits.images
iris_x, iris_y = load_iris(return_X_y=True)
wine = load_wine()["data"]
cancer, labels = load_breast_cancer(return_X_y=True)
diabetes, targets = load_diabetes(return_X_y=True)
del digits

# == made data
from sklearn.datasets import make_moons, make_classification, make_blobs, make_regression, make_circles
a, b = make_moons(n_samples=50, noise=0.1)
c, d = make_classification(n_samples=30, n_features=7, n_informative=3, n_classes=2, random_state=0)
e, f = make_blobs(20, centers=3, n_features=5)
g, h = make_regression(n_samples=11, n_features=3)
i, j = make_circles(13)

# == splits
import numpy as np
import torch
from sklearn.model_selection import train_test_split
x, y = np.zeros((103, 5)), np.zeros(103)
a, b, c, d = train_test_split(x, y, test_size=0.2, random_state=0)
e, f = train_test_split(x)
g, h = train_test_split(x, train_size=0.7)
i, j = train_test_split(x, test_size=13)
k, l = train_test_split(torch.zeros(10, 3), test_size=0.33)
some_m, some_n = train_test_split([1, 2, 3, 4, 5], test_size=0.4)
o = len(some_m)

# == scaling
import numpy as np
from sklearn.preprocessing import StandardScaler, MinMaxScaler, LabelEncoder
scaler = StandardScaler()
a = scaler.fit_transform(np.random.rand(11, 3))
b = scaler.transform(np.random.rand(5, 3))
c = MinMaxScaler().fit_transform(np.random.rand(11, 3).astype(np.float32))
d = LabelEncoder().fit_transform(["a", "b", "a"])
del scaler

# == fewer features
import numpy as np
from sklearn.decomposition import PCA
p = PCA(n_components=2)
a = p.fit_transform(np.random.rand(11, 5))
b = p.transform(np.random.rand(7, 5))
del p

# == scores
import numpy as np
from sklearn.metrics import accuracy_score
some = float(accuracy_score(np.array([1, 0]), np.array([1, 1])))
