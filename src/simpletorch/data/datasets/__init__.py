"""Datasets: images, text, tables, Hugging Face's, replayed experience; and how they are fetched and kept whole."""
