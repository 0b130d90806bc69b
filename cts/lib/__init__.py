"""What the framework tests share: clients, fixtures, and models of what must hold."""
