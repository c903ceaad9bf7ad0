package authority

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// domains returns the DNS suffixes of the network adapters and the DNS domain of the computer.
func domains() (all []string) {
	size := uint32(64 << 10)
	buffer := make([]byte, size)
	first := (*windows.IpAdapterAddresses)(unsafe.Pointer(&buffer[0]))
	if windows.GetAdaptersAddresses(windows.AF_UNSPEC, 0, 0, first, &size) == nil {
		for a := first; a != nil; a = a.Next {
			if suffix := windows.UTF16PtrToString(a.DnsSuffix); suffix != "" && a.OperStatus == windows.IfOperStatusUp {
				all = append(all, suffix)
			}
		}
	}
	var name [256]uint16
	length := uint32(len(name))
	if windows.GetComputerNameEx(windows.ComputerNamePhysicalDnsDomain, &name[0], &length) == nil {
		all = append(all, windows.UTF16ToString(name[:length]))
	}
	return all
}
