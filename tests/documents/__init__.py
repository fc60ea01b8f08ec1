"""The items of the documents that the library implements: our way to each, its programs, and how far it goes."""
