"""Language models behind the `Backbone` protocol."""
