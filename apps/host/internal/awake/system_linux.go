package awake

// System returns the inhibitor of this system: logind.
func System() Inhibitor { return logind{} }
