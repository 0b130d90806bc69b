"""Apps in processes of their own that share one NPU: they ask the NPU Manager, load real models, and run inferences."""
