# == json
import json
d = json.loads('{"dim": 5, "sizes": [2, 3], "name": null, "on": true}')
a = d["dim"] * 2
some = json.dumps(d)
try:
    json.loads("{")
    b = 1
except ValueError:
    b = 2
try:
    json.loads("{")
    c = 1
except json.JSONDecodeError:
    c = 2

# == regular expressions
import re
a = re.sub(r"\d+", "N", "a1b22")
b = re.split(r"[,;]", "a,b;c")
c = re.findall(r"\w", "a b")
some = re.match("a", "abc") is not None
some_p = re.compile("x").sub("y", "xx")

# == letters
import string
a = string.ascii_lowercase[:3]
b = len(string.ascii_letters)
vocabulary = {c: i for i, c in enumerate(string.digits)}
