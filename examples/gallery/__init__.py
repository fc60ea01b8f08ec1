"""Short programs, each of one thing: `python examples/gallery/xor.py --quick --picture xor.png`."""
