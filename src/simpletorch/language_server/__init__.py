"""``simpletorch language-server``: shapes and mistakes in an editor, while one types. Needs the package pygls."""
