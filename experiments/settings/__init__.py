"""From words to settings: the schema, overrides, plugins, errors. It imports the kinds."""
