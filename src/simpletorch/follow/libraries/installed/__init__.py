"""Installed libraries that are followed into their source (`sources.packages`): what their source alone doesn't say."""
