//go:build !linux && !darwin && !windows

package service

// Systems without a service manager that is known here.

// Account is the user of the service.
const Account = Name

// DataFolder returns the folder of the service's data.
func DataFolder() string { return "/var/lib/firefighters" }

// InstalledProgram returns where Install wants the program.
func InstalledProgram() string { return "/usr/local/bin/firefighters" }

// Packaged returns how the package that brought a program is removed, empty if
// none did.
func Packaged(program string) string { return "" }

// Installed reports whether the service is installed.
func Installed() bool { return false }

// Permitted reports whether this process may install, start and stop.
func Permitted() bool { return false }

// LogCommand returns what to type to see the log.
func LogCommand() string { return "" }

// Prepare makes the account and the folder of the data.
func Prepare(d Definition) (steps []string, err error) { return nil, ErrUnsupported }

// Share lets the service write to a folder, which it makes.
func Share(d Definition, folder string) error { return ErrUnsupported }

// MayRead returns an error if the service may not read a file.
func MayRead(d Definition, file string) error { return ErrUnsupported }

// Install describes the service to the system.
func Install(d Definition) (steps []string, err error) { return nil, ErrUnsupported }

// Uninstall takes that back, and leaves the data.
func Uninstall(d Definition) (steps []string, err error) { return nil, ErrUnsupported }

// Start returns when the service is ready.
func Start() error { return ErrUnsupported }

// Stop returns when the service has ended.
func Stop() error { return ErrUnsupported }

// Current returns what the system knows of the service.
func Current() (State, error) { return State{}, ErrUnsupported }
