# == settings in a text
import torch
layers = eval("[(40, 10, 5)] + [(48, 3, 2)] * 2")
a = (len(layers), layers[1])
b = torch.zeros(layers[1][0], eval("len('abc') + 2"))
c = [eval("lambda x: x * 2")(3), eval("[i * 2 for i in range(4)]")]
n = 5
d = torch.zeros(eval("n * 2"))

# == literals
import ast
a = ast.literal_eval("{'sizes': [3, 5], 'name': 'x'}")
b = a["sizes"]

# == what is no expression
try:
    a = eval("3 +")
except SyntaxError:
    a = "no expression"
