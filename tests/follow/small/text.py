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

# == patterns that are made once
import re
word = re.compile(r"(?P<kind>[a-z]+)\.(\d+)\.w[qv]$", re.I | re.M)
found = word.search("layers.12.WQ")
a = (found.group(0), found[1], int(found.group(2)), found.start(), found.span(), found.lastindex, found.string)
b = found.groups()
c = found.groupdict()["kind"]
d = (word.pattern, word.groups, word.flags)
e = word.search("norm")
f = [m.group() for m in re.finditer(r"\w+", "ab cde")]
g = re.compile("[a-z]+").sub("x", "a1b2")
h = [part.upper() for part in re.compile(r"\s+").split("a b  c")]
k = "one" if re.fullmatch("a+", "aaa") else "other"
tokens = re.compile(r"\w+|[^\w\s]").findall("Hello, world!")
del word, found
