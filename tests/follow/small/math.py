# == square root and logarithm
import math
a = math.sqrt(64)
b = math.log2(8)
c = math.log(math.e)

# == rounding
import math
a = math.ceil(7 / 2)
b = math.floor(-3.5)
c = math.trunc(2.9)

# == products
import math
a = math.prod([2, 3, 5])
b = math.prod((7, 11), start=2)
c = math.prod([])

# == constants
from math import pi, inf, nan, tau
a = pi * 2
b = inf
c = nan
d = tau

# == integers
import math
a = math.gcd(12, 18)
b = math.comb(5, 2)
c = math.isqrt(17)
d = math.factorial(5)

# == what is raised
import math
try:
    a = math.sqrt(-1)
except ValueError:
    a = 'no'

# == sums
import math
a = math.fsum([0.5, 0.25])
b = math.isclose(0.1 + 0.2, 0.3)
