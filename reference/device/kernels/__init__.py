"""One file per operation; each reads like its formula."""
