"""The classes from which the mypy plugin builds the type of `torch.Tensor`: dtypes, sizes, expressions over sizes.

With the plugin every program that uses PyTorch depends on these files. With a module mypy loads the packages around it,
and the stub of `simpletorch` imports all of simpletorch: hence a package of their own, which imports nothing. Programs
take the names from `simpletorch`.
"""
