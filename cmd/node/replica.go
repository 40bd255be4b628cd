package main

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/ringleader-dev/ringleader/proto"
)

// A container that nobody gave a hostname has its own id for one. That may end in digits,
// which say nothing: the number of a replica stands in its name. Docker's DNS gives that
// name, and the network's after a dot, to whoever asks for the name of the container's
// address.
var (
	containerID = regexp.MustCompile(`^[0-9a-f]{12}$`)
	replicaName = regexp.MustCompile(`^([a-z0-9_-]+)[-_]([1-9][0-9]*)(\.|$)`)
)

// oneOff ends the names of containers of `docker-compose run`, before a random number.
var oneOff = regexp.MustCompile(`[-_]run$`)

// lookupTime bounds the question for a name.
const lookupTime = 2 * time.Second

// deriveReplica takes the number that this container's name ends in.
func (r *resolved) deriveReplica(hostname string, in surroundings) error {
	addrs, err := in.addrs()
	if err != nil {
		return fmt.Errorf("list this machine's addresses: %w: %w", err, errNoID)
	}
	var asked []string
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || prefix.Addr().IsLoopback() {
			continue
		}
		asked = append(asked, prefix.Addr().String())
		for _, name := range in.names(prefix.Addr()) {
			if id, ok := replicaNumber(name); ok {
				r.ID = id
				r.origins["id"] = origin{"default", "container " + name}
				return nil
			}
		}
	}
	return fmt.Errorf("hostname %q is a container's id, and the DNS has no name with a number at its end for "+
		"the container's addresses (%s): %w", hostname, strings.Join(asked, ", "), errNoID)
}

// replicaNumber is the number that the name of a replica ends in: 3 for project_node_3.network.
func replicaNumber(name string) (id proto.NodeID, ok bool) {
	parts := replicaName.FindStringSubmatch(name)
	if parts == nil || oneOff.MatchString(parts[1]) {
		return 0, false
	}
	id, err := proto.ParseNodeID(parts[2])
	return id, err == nil
}

// namesOf asks the DNS for the names of an address; none when it does not answer. Go's own
// resolver would answer from /etc/hosts, where Docker has the container's id.
func namesOf(ip netip.Addr) (names []string) {
	servers, err := dns.ClientConfigFromFile("/etc/resolv.conf")
	if err != nil {
		return nil
	}
	arpa, err := dns.ReverseAddr(ip.String())
	if err != nil {
		return nil
	}
	client := dns.Client{Timeout: lookupTime}
	for _, server := range servers.Servers {
		question := new(dns.Msg).SetQuestion(arpa, dns.TypePTR)
		answer, _, err := client.Exchange(question, net.JoinHostPort(server, servers.Port))
		if err != nil {
			continue
		}
		for _, record := range answer.Answer {
			if ptr, ok := record.(*dns.PTR); ok {
				names = append(names, strings.TrimSuffix(ptr.Ptr, "."))
			}
		}
	}
	return names
}
