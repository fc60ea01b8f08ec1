"""Images: classifiers with torchvision's parameter names (`simpletorch.vision.models`)."""
