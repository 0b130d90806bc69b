"""Campaigns: rounds of fuzzers that share a corpus, their findings, and the folder that keeps both."""
