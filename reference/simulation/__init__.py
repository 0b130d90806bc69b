"""A discrete-event simulation: many apps compete for the real manager and the real scheduling HAL on a virtual clock."""
