package bench

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"
)

// What the kernel says about this very process is what we read.
func TestProc(t *testing.T) {
	for began := time.Now(); time.Since(began) < 3*tick; { // use some time
	}
	if cpu, err := cpuTime(os.Getpid()); cpu < tick || err != nil {
		t.Errorf("used %v, %v", cpu, err)
	}
	kib, err := procField(fmt.Sprintf("/proc/%d/status", os.Getpid()), "VmRSS", 0)
	if kib < 1024 || err != nil {
		t.Errorf("resident: %d KiB, %v", kib, err)
	}
	if _, err := procField("/proc/meminfo", "Nonsense", 0); err == nil {
		t.Error("read a field that is not there")
	}
	if m := ThisMachine(); m.Cores < 1 || m.MemoryMiB < 1 || m.Date.IsZero() {
		t.Errorf("this machine: %+v", m)
	}
}

func TestSocketsIn(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	packets, err := loopbackPackets()
	if packets == 0 || err != nil {
		t.Errorf("%d packets on loopback, %v", packets, err)
	}
	sockets, err := establishedSockets()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := socketsIn(os.Getpid(), sockets); n < 2 || err != nil {
		t.Errorf("%d established connections here, %v; want both ends of one", n, err)
	}
}
