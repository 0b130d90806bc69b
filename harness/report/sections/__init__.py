"""The sections of a page, one module each: what it is made of; templates say how it looks. No data, no section."""
