//go:build !linux && !darwin && !windows

package managers

// Systems without a service manager that is known here.

// Account is the user of the service.
const Account = Name

// DataFolder returns the folder of the service's data.
func (h Host) DataFolder() string { return "/var/lib/firefighters" }

// InstalledProgram returns where Install wants the program.
func (h Host) InstalledProgram() string { return "/usr/local/bin/firefighters" }

// Packaged returns how the package that brought a program is removed, empty if
// none did.
func (h Host) Packaged(program string) string { return "" }

// Installed reports whether the service is installed.
func (h Host) Installed() bool { return false }

// Permitted reports whether this process may install, start and stop.
func (h Host) Permitted() bool { return false }

// LogCommand is what to type to see the log.
const LogCommand = ""

// Prepare makes the account and the folder of the data.
func (h Host) Prepare(d Definition) (steps []string, err error) { return nil, ErrUnsupported }

// Share lets the service write to a folder, which it makes.
func (h Host) Share(folder string) error { return ErrUnsupported }

// MayRead returns an error if the service may not read a file.
func (h Host) MayRead(file string) error { return ErrUnsupported }

// Install describes the service to the system.
func (h Host) Install(d Definition) (steps []string, err error) { return nil, ErrUnsupported }

// Uninstall takes that back, and leaves the data.
func (h Host) Uninstall(program string) (steps []string, err error) { return nil, ErrUnsupported }

// Start returns when the service is ready.
func (h Host) Start() error { return ErrUnsupported }

// Stop returns when the service has ended.
func (h Host) Stop() error { return ErrUnsupported }

// Current returns what the system knows of the service.
func (h Host) Current() (State, error) { return State{}, ErrUnsupported }
