"""What an implementation may say about itself while it works: logs by tag, and traces of where time goes."""
