"""The callbacks that come with the `Trainer`."""
