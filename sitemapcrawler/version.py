"""Version of the package, declared here alone."""

__version__ = "1.0.0"
