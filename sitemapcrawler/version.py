"""Version of the package, declared here alone."""

__version__ = "2.0.0"
