package sqlite

import (
	"fmt"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// machineID returns the id of this installation of the system.
func machineID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`,
		registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	id, _, err := key.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return id
}

// fileIdentity returns what stays of a file as long as it is the same one: its number, and when it was made.
func fileIdentity(path string) (string, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	// Without access to the content: no lock that the process has on it is touched.
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	file, err := windows.CreateFile(name, 0, shared, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(file)
	var s windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(file, &s); err != nil {
		return "", err
	}
	return fmt.Sprint(s.VolumeSerialNumber, " ", s.FileIndexHigh, " ", s.FileIndexLow, " ",
		s.CreationTime.Nanoseconds()), nil
}
