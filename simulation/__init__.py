"""A discrete-event simulation: many apps compete for the manager and the scheduling HAL on a virtual clock."""
