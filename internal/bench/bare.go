package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// The roles of a bare process: a member of the full mesh on which the floor is measured, or a relay
// of bytes on a ring.
const (
	roleMesh  = "mesh"
	roleRelay = "relay"
)

// bareProcess is a process with nothing but connections to others of its kind. It elects as soon as
// one connection ends, and survives no second fault: it shows how fast the machine is, and is no
// safe election.
type bareProcess struct {
	Role  string   `json:"role"`
	ID    int      `json:"id"`    // from 1; a higher one ranks higher
	Addrs []string `json:"addrs"` // where the process of each id listens
}

// bareFrame is the longest message between bare processes, in bytes.
const bareFrame = 256

// run plays the role until in ends, as it does when the parent dies. It writes what it saw to out,
// one "word nanoseconds" a line.
func (b bareProcess) run(in io.Reader, out io.Writer) error {
	if b.ID < 1 || b.ID > len(b.Addrs) || len(b.Addrs) < 2 {
		return fmt.Errorf("bare process %d of %d: no such place", b.ID, len(b.Addrs))
	}
	ln, err := net.Listen("tcp", b.Addrs[b.ID-1])
	if err != nil {
		return fmt.Errorf("listen as a bare process: %w", err)
	}
	defer ln.Close()
	switch b.Role {
	case roleMesh:
		return b.runMesh(ln, in, out)
	case roleRelay:
		return b.runRelay(ln, in, out)
	}
	return fmt.Errorf("bare process: unknown role %q", b.Role)
}

// dial connects to process id, which may not listen yet, and tells it this process's id.
func (b bareProcess) dial(id int) (net.Conn, error) {
	const patience, pause = 10 * time.Second, 2 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", b.Addrs[id-1])
		if err == nil {
			_, err = conn.Write([]byte{byte(b.ID >> 8), byte(b.ID)})
			return conn, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("dial bare process %d: %w", id, err)
		}
		time.Sleep(pause)
	}
}

// accept takes one connection and reads the id of the process that dialled.
func accept(ln net.Listener) (id int, conn net.Conn, err error) {
	if conn, err = ln.Accept(); err != nil {
		return 0, nil, err
	}
	var caller [2]byte
	_, err = io.ReadFull(conn, caller[:])
	return int(binary.BigEndian.Uint16(caller[:])), conn, err
}

// frame puts a length before payload.
func frame(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(payload))), payload...)
}

// readFrame reads one frame into buf, and returns it together with its length prefix.
func readFrame(r io.Reader, buf []byte) ([]byte, error) {
	if _, err := io.ReadFull(r, buf[:2]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(buf))
	if n > len(buf)-2 {
		return nil, fmt.Errorf("a frame of %d bytes: at most %d", n, len(buf)-2)
	}
	_, err := io.ReadFull(r, buf[2:2+n])
	return buf[:2+n], err
}

// announcement returns the only message of the bare processes' "election".
func announcement(from int, leader proto.NodeID) ([]byte, error) {
	_, payload, err := proto.Marshal(proto.Message{
		From: proto.NodeID(from), To: proto.NodeID(from), Term: 2, Seq: 1,
		Body: nomination.Coordinator{Leader: proto.Peer{ID: leader}},
	})
	return frame(payload), err
}

// runRelay passes frames on. For each line that it reads from in, the process with id 1 sends one
// frame round the ring, and writes to out how long that took.
func (b bareProcess) runRelay(ln net.Listener, in io.Reader, out io.Writer) error {
	next, err := b.dial(b.ID%len(b.Addrs) + 1)
	if err != nil {
		return err
	}
	_, previous, err := accept(ln)
	if err != nil {
		return fmt.Errorf("wait for the previous process on the ring: %w", err)
	}
	fmt.Fprintln(out, "ready 0")
	if b.ID == 1 {
		return b.sendRound(next, previous, in, out)
	}
	go func() {
		defer next.Close() // the next one learns that the ring is broken
		buf := make([]byte, bareFrame)
		for {
			message, err := readFrame(previous, buf)
			if err != nil {
				return
			}
			if _, err := next.Write(message); err != nil {
				return
			}
		}
	}()
	_, err = io.Copy(io.Discard, in)
	return err
}

func (b bareProcess) sendRound(next, previous net.Conn, in io.Reader, out io.Writer) error {
	message, err := announcement(b.ID, 1)
	if err != nil {
		return err
	}
	buf := make([]byte, bareFrame)
	for asked := bufio.NewScanner(in); asked.Scan(); {
		began := time.Now()
		if _, err := next.Write(message); err != nil {
			return fmt.Errorf("send round the ring: %w", err)
		}
		if _, err := readFrame(previous, buf); err != nil {
			return fmt.Errorf("wait for what was sent round the ring: %w", err)
		}
		fmt.Fprintf(out, "trip %d\n", time.Since(began).Nanoseconds())
	}
	return nil
}
