"""Campaigns: rounds of fuzzers that share a corpus, their findings, and the folder that keeps both.

How findings are told apart, in the words of all modules here:

signature     kind and place of a finding: what has the same one is the same finding
known         signatures that are in the folder already: a round counts them as repeats, and reports them no more
doubted       those of the known whose cause may have been mended, since the plug-in may be another build: when one is
              met for the first time, its old input is run again
is_another    what is met by a doubted signature whose old input passes: a finding of another cause, which is added
killers, skip digests of inputs that have ended a process: they are not run again, or no round would come past them
unmerged      findings of rounds that have not ended, which the folder has nevertheless
"""
