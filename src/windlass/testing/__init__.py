"""What tests of Windlass, and of apps that use it, are made of; shipped with the package."""
