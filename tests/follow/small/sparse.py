# == tensors made
import torch
i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 5.0, 7.0])
a = torch.sparse_coo_tensor(i, v, (2, 3))
b = torch.sparse_coo_tensor(i, v, torch.Size([2, 3]))
c = torch.sparse_coo_tensor(i, v, [2, 3], dtype=torch.float64)
d = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3, 5, 7], (2, 3))
some_e = torch.sparse_coo_tensor(i, v)
f = torch.sparse.FloatTensor(i, v, torch.Size((2, 3)))
g = torch.sparse_csr_tensor(torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2]), v, (2, 3))
h = torch.ones(3, 5).to_sparse()
j = h.to_sparse_csr()
k = torch.ones(3, 5).to_sparse_csr()
l = torch.sparse_coo_tensor(i, torch.ones(3, 7), (2, 3, 7))
some_m = torch.ones(3, 5, 7).to_sparse(2)
some_n = torch.sparse_coo_tensor((2, 3))
o = torch.sparse_coo_tensor(indices=i, values=v, size=(2, 3), dtype=torch.float16)

# == tensors asked
import torch
a = torch.ones(3, 5).to_sparse()
b = a.shape
c = a.size(0)
d = a.size()
e = a.dim()
f = a.ndim
g = a.dtype
h = a.numel()
i = a.is_sparse
j = isinstance(a, torch.Tensor)
k = a is None
some_l = a.indices()
some_m = a.values()
some_n = a._nnz()
o = a.to_dense()
some_p = a.to_sparse_csr().values()
some_q = len(a)
some_r, some_s = a.coalesce().indices()
some_t = a.to_sparse_csr().is_sparse
some_u = a.is_coalesced()
some_v = a.device
w = a.indices().shape[0]

# == tensors of others
import torch
a = torch.ones(3, 5).to_sparse()
b = a.t()
c = a.transpose(0, 1)
d = a.coalesce().detach().clone().cpu()
e = a.double()
f = a.to(torch.float16)
g = a.to("cpu")
h = a.to("cpu", torch.float64)
i = a.int()
j = a.requires_grad_()
k = torch.t(a.detach())
l = a.detach().T
m = a.detach().index_select(0, torch.tensor([1, 2, 0, 1]))
n = a.to_sparse_csr().t()
o = a.to_sparse_csr().double()
p = torch.transpose(a.detach(), 0, 1)
some_q = a.detach()[0]
some_r = a.detach().unsqueeze(0)
some_s = torch.cat([a, a])
some_t = torch.relu(a)
some_u = torch.stack([a, a])

# == tensors multiplied
import torch
a = torch.ones(3, 5).to_sparse()
c = a.to_sparse_csr()
d, v, left = torch.ones(5, 7), torch.ones(5), torch.ones(2, 3)
e = torch.sparse.mm(a, d)
f = a @ d
g = torch.spmm(a, d)
h = torch.mm(a, d)
i = a.mm(d)
j = torch.matmul(a, d)
k = left @ a
l = torch.sparse.mm(left, a)
m = torch.mm(left, a)
n = a @ v
o = torch.mv(a, v)
p = a @ a.t()
q = torch.sparse.mm(a, a.t())
r = c @ d
s = left @ c
t = c @ c.t().to_sparse_csr()
u = torch.sparse.mm(c, d)
w = a.matmul(d)
x = torch.dsmm(a, d)
y = c.to_dense() @ d
z = torch.sparse.mm(a.double(), d.double())

# == tensors scaled and summed
import torch
a = torch.ones(3, 5).to_sparse()
b = a * 2
c = 2 * a
d = a / 2
e = a.int() * 2.5
f = a.int() / 2
g = -a
h = a + a
i = a - a
j = a * a
k = torch.ones(3, 5) + a
l = a * torch.ones(3, 5)
m = torch.ones(3, 5) * a
n = a * torch.ones(5)
o = a * torch.tensor(2.0)
p = a.mul(3)
q = a + a.double()
r = torch.sparse.sum(a)
s = torch.sparse.sum(a, dim=1)
t = torch.sparse.sum(a, 0)
u = torch.sparse.sum(a.int())
v = torch.sparse.sum(a, dtype=torch.float64)
w = a.sum()
x = torch.sparse.softmax(a, 1)
y = torch.sparse.log_softmax(a, dim=1, dtype=torch.float64)
some_z = torch.sparse.sum(a, dim=(0, 1))
aa = a.to_sparse_csr() * 2
ab = 0.5 * a.to_sparse_csr()
some_ac = a ** 2
some_ad = a.sum(1)
ae = torch.ones(3, 5)
ae += a
af = a.clone()
af *= 2
ag = torch.mul(a, 2)
ah = torch.add(a, a)
ai = a * torch.tensor(2.0, dtype=torch.float64)

# == tensors changed
import torch
some_a = torch.sparse_coo_tensor(torch.tensor([[0, 1], [2, 0]]), torch.tensor([3.0, 5.0]), (2, 3))
some_b = some_a
some_a.t_()
some_c = some_a
some_d = some_a.shape

# == gradients of sparse tensors
import torch
i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.ones(3, requires_grad=True)
a = torch.sparse_coo_tensor(i, v, (2, 3))
b = torch.sparse.mm(a, torch.ones(3, 5)).sum()
b.backward()
c = torch.sparse_coo_tensor(i, v.detach(), (2, 3))
w = torch.ones(3, 5, requires_grad=True)
d = torch.sparse.mm(c, w).sum()
d.backward()

# == matrices made
import numpy as np
import scipy.sparse as sp
d = np.ones((3, 5), dtype=np.float32)
a = sp.csr_matrix(d)
b = sp.coo_matrix((np.ones(2), (np.array([0, 1]), np.array([1, 4]))), shape=(3, 5))
c = sp.coo_matrix((np.ones(2), ([0, 1], [1, 4])), shape=(3, 5), dtype=np.float32)
some_e = sp.coo_matrix((np.ones(2), ([0, 1], [1, 4])))
f = sp.lil_matrix((3, 5))
g = sp.dok_matrix((3, 5), dtype=np.float32)
h = sp.csc_matrix(a)
i = sp.csr_array(d)
j = sp.coo_array((np.ones(2), ([0, 1], [1, 4])), shape=(3, 5))
k = sp.eye(3)
l = sp.eye(3, 5)
m = sp.identity(3)
n = sp.eye(3, dtype=np.float32)
o = sp.diags(np.ones(7))
p = sp.diags(np.ones(7, dtype=np.float32))
some_q = sp.diags([np.ones(3), np.ones(2)], [0, 1])
r = sp.random(3, 5, 0.5)
s = sp.block_diag([a, h])
t = sp.hstack([a, b])
u = sp.vstack([a, b])
v = sp.csr_matrix([[1, 2], [3, 4]])
w = sp.csr_matrix(np.ones(5))
some_x = sp.csr_array(np.ones(5))
y = sp.csr_matrix((np.array([1, 2]), np.array([0, 2]), np.array([0, 1, 2])), shape=(2, 3))
z = sp.bsr_matrix(d)
aa = sp.dia_matrix(d)
ab = sp.csr_matrix((3, 5), dtype=bool)
some_ac = sp.diags(np.ones(3), 1)
some_ad = sp.diags([1, 2, 3])
ae = sp.random(3, 5, density=0.5, format="csr", dtype=np.float32)
some_af = sp.csr_matrix((np.ones(2), ([0, 1], [1, 4])))
ag = sp.eye_array(3)
ah = sp.triu(a)
some_ai = sp.hstack([a, sp.csr_array(d)])
aj = sp.csr_matrix(a, dtype=np.float64)
ak = sp.identity(3, dtype=np.float32)
some_al = sp.diags_array(np.ones(3))

# == matrices asked
import numpy as np
import scipy.sparse as sp
a = sp.csr_matrix(np.ones((3, 5)))
b = a.shape
c = a.dtype
d = a.ndim
e = a.format
some_f = a.nnz
some_g = a.data
some_h = a.indices
some_i = a.indptr
some_j = a.tocoo().row
some_k = a.tocoo().col
l = a.toarray()
m = a.todense()
n = np.array(a.todense())
o = np.asarray(a.todense())
p = sp.csr_array(np.ones((3, 5))).todense()
q = a.diagonal()
some_r = a.nonzero()
s = sp.issparse(a)
t = sp.isspmatrix_coo(a)
u = sp.isspmatrix_csr(a)
v = sp.issparse(m.A)
w = a is None
some_x = a.tolil().data
some_y = a.todok().nnz
some_z = np.array(a)
some_aa = sp.issparse(p)
some_ab = a.getnnz()
some_ac = isinstance(a, np.ndarray)
some_ad = a.max()
some_ae = a.tobsr().data
some_af = a.todia().data
some_ag = sp.issparse(sp.csr_array(np.ones((3, 5))))
some_ah = sp.isspmatrix(sp.csr_array(np.ones((3, 5))))

# == matrices of others
import numpy as np
import scipy.sparse as sp
a = sp.csr_matrix(np.ones((3, 5)))
b = a.tocoo()
c = a.tocsc().tolil().todok()
d = a.astype(np.float32)
e = a.T
f = a.transpose()
g = b.T
h = a.copy()
i = a.power(2)
j = a.getrow(0)
k = a[0]
l = a[[1, 2]]
m = a[:, 1]
n = a[1:3]
o = a[np.array([0, 2, 1, 0])]
some_p = a[0, 1]
q = a[1:, :2]
r = a[:, [0, 3]]
s = a[np.arange(2), :]
some_t = a[[0, 1], [0, 1]]
some_u = a[np.array([True, False, True])]
v = a[[0, 1]][:, [2, 3, 4]]
some_w = a[np.ix_([0, 1], [2, 3])]
x = a.asformat("coo")
y = sp.csr_array(np.ones((3, 5)))[1:]
some_z = sp.csr_array(np.ones((3, 5)))[1]
aa = a.T.T
some_ab = a.reshape(5, 3)
ac = a.setdiag(1)
some_ad = a.power(0.5)
af = a[::2]
some_ag = a[::-1]

# == matrices changed
import numpy as np
import scipy.sparse as sp
some_a = sp.csr_matrix(np.ones((3, 5)))
some_a.data = some_a.data.astype(np.float32)
some_b = some_a
c = some_a.shape
some_d = sp.csr_matrix(np.ones((3, 5)))
some_d.resize(2, 2)
some_e = some_d.shape
f = sp.lil_matrix((3, 5))
f[0, 1] = 7
f[1] = np.ones(5)
g = f.tocsr()
g *= 2
some_h = sp.csr_matrix(np.ones((3, 5), dtype=np.float32))
some_h /= 2
some_i = some_h
some_j = sp.csr_matrix(np.ones((3, 5), dtype=np.float32))
some_j += sp.csr_matrix(np.ones((3, 5)))

# == matrices computed with
import numpy as np
import scipy.sparse as sp
a = sp.csr_matrix(np.ones((3, 5), dtype=np.float32))
s, d, v = sp.csr_matrix(np.ones((5, 7))), np.ones((5, 7)), np.ones(5)
b = a.dot(s)
c = a @ s
e = a * s
f = a @ d
g = a.dot(d)
h = a * d
i = a @ v
j = a.dot(v)
k = np.ones((2, 3)) @ a
l = a * 2
m = 2 * a
n = a * 2.5
some_o = a / 2
p = s / 2
q = a + a
r = a - a
t = a + np.ones((3, 5))
u = a > a
w = a > 0
x = a != a
y = a.multiply(a)
z = a.multiply(np.ones((3, 5)))
aa = a.multiply(np.ones((3, 1)))
ab = a.multiply(2)
ac = -a
ad = s + s.T.T
ae = a.astype(np.float64) + a
af = sp.diags(np.ones(3)).dot(a).dot(sp.diags(np.ones(5)))
ag = sp.csr_array(a)
ah = ag * ag
ai = ag @ d
aj = ag * 2
ak = ag + ag
al = ag + np.ones((3, 5))
am = (a > 0).multiply(a)
an = a + 0
some_ao = sum([a, a, a])
some_ap = sp.eye(3) ** 2
some_aq = ag ** 2
some_ar = ag @ s
ass = sp.lil_matrix(a) * 2
at = a.tolil() * 0.5
some_au = a.maximum(a)
some_av = sp.csr_matrix(np.ones((3, 3), dtype=np.int64)) / 2
aw = sp.csr_matrix(np.ones((3, 3), dtype=np.int64)) * 0.5
some_ax = sp.lil_matrix((3, 3), dtype=np.int64) / 2
ay = sp.csr_matrix(np.ones((3, 3), dtype=np.int32)) @ sp.csr_matrix(np.ones((3, 3), dtype=np.int64))
az = sp.csr_matrix(np.ones((3, 3), dtype=bool)) + sp.csr_matrix(np.ones((3, 3)))
some_ba = a * np.float64(2.5)
some_bb = np.float32(2) * a
some_bc = sp.csr_matrix(np.ones((3, 3), dtype=bool)) * 2
bd = np.ones((2, 3)) * a
some_be = np.ones((3, 5)) + a
some_bf = a == 0
some_bg = a.multiply(np.ones(5))

# == matrices reduced
import numpy as np
import scipy.sparse as sp
a = sp.csr_matrix(np.ones((3, 5), dtype=np.float32))
b = a.sum()
c = a.sum(0)
d = a.sum(axis=1)
e = a.sum(-1)
f = a.mean()
g = a.mean(1)
h = np.array(a.sum(1))
i = np.array(a.sum(1)).flatten()
j = np.power(i, -1)
k = np.asarray(a.sum(axis=1)).squeeze()
l = a.sum(1).A1
m = a.sum(1).A
n = a.sum(1).flatten()
o = a.sum(1).T
p = sp.csr_array(a).sum(1)
q = sp.csr_array(a).sum(axis=0)
r = (a > 0).sum(1)
s = sp.csr_matrix(np.ones((3, 3), dtype=np.int32)).sum(0)
t = sp.csr_matrix(np.ones((3, 3), dtype=np.int64)).mean(1)
u = a.sum(1, dtype=np.float64)
some_v = np.sum(a, 1)
some_w = np.power(a.sum(1), -1)
some_x = a.sum(1)[0]
some_y = a.sum(1) * 2
some_z = np.squeeze(a.sum(1))
aa = a.sum(1).astype(np.float64)
ab = a.sum(1).shape
some_ac = np.exp(a.sum(1))
some_ad = np.asanyarray(a.sum(1))
ae = np.array(a.sum(1), dtype=np.float64)

# == matrices become tensors
import numpy as np
import scipy.sparse as sp
import torch
a = sp.csr_matrix(np.ones((3, 5)))
b = torch.FloatTensor(np.array(a.todense()))
c = torch.FloatTensor(a.todense())
d = torch.tensor(a.toarray())
e = torch.from_numpy(a.todense())
f = torch.tensor(a.todense(), dtype=torch.float32)
g = a.tocoo().astype(np.float32)
some_indices = torch.from_numpy(np.vstack((g.row, g.col)).astype(np.int64))
some_values = torch.from_numpy(g.data)
h = torch.sparse_coo_tensor(some_indices, some_values, torch.Size(g.shape))
i = torch.sparse.FloatTensor(some_indices, some_values, torch.Size(g.shape))
j = torch.sparse.mm(h, torch.ones(5, 7))
k = torch.as_tensor(a.todense())
