"""The type that is stated for a chain's result is none of its stages'."""

from simpletorch import Float32, Tensor, UInt8, nn, transforms

prepare = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()])
image: Tensor[UInt8, 3, 300, 300] = Tensor.zeros([3, 300, 300], dtype=UInt8)
ready: Tensor[Float32, 3, 224, 224] = prepare(image)
net = nn.Sequential([nn.Embedding(11, 7), nn.Linear(7, 5)])
rows: Tensor[Float32, 2, 3, 5] = nn.Sequential(nn.Embedding(11, 7), nn.Linear(7, 5))(Tensor.zeros([2, 3]).long())
more: Tensor[Float32, 2, 3, 5] = net(Tensor.zeros([2, 3]).long())


def load(x: Tensor[UInt8, 3, 300, 300]) -> Tensor[Float32, 3, 224, 224]:
    return prepare(x)
