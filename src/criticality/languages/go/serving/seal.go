package serving

import (
	"encoding/hex"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// seal puts the filter of system calls in the first argument over all threads, and says so; empty is no filter.
func seal() string {
	filter, fault := hex.DecodeString(os.Args[1])
	if fault != nil {
		os.Exit(4)
	}
	if len(filter) == 0 {
		return ""
	}
	program := struct {
		count uint16
		first *byte
	}{uint16(len(filter) / 8), &filter[0]}
	const noNewPrivileges, setFilter, allThreads = 38, 1, 1
	seccomp := map[string]uintptr{"amd64": 317, "arm64": 277}[runtime.GOARCH]
	runtime.LockOSThread()
	syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0)
	if _, _, refused := syscall.RawSyscall(seccomp, setFilter, allThreads, uintptr(unsafe.Pointer(&program))); refused != 0 {
		os.Exit(4)
	}
	return "seccomp"
}
